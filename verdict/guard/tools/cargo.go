package tools

// See https://doc.rust-lang.org/cargo/reference/manifest.html#the-lints-section.
var _ = register(
	&Tool{Name: "cargo", Files: []string{"Cargo.toml"}, Within: []string{"lints", "workspace/lints"},
		Settings: []Setting{{Keys: "*/*", Way: Grade}}, Aliases: clippy},
	&Tool{Name: "cargo-tests", Files: []string{"Cargo.toml"}, Settings: []Setting{
		{Keys: "package/autotests", Way: On, Default: "true", Beside: "harness"}, {Keys: "lib/test", Way: On, Default: "true", Beside: "harness"},
		{Keys: "**/harness", Way: On},
		{Keys: "workspace/exclude", Way: Excluded}, {Keys: "workspace/members|default-members", Way: Included},
	}},
	&Tool{Name: "clippy", Files: []string{"clippy.toml", ".clippy.toml"}, Settings: []Setting{{Keys: "*-threshold", Way: Ceiling}}},
	&Tool{Name: "cargo-deny", Files: []string{"deny.toml"}, Settings: []Setting{
		{Keys: "advisories/ignore", Way: Ignored},
		{Keys: "*/vulnerability|unmaintained|yanked|unlicensed|copyleft|multiple-versions|wildcards|unknown-registry|unknown-git",
			Way: Grade},
		{Keys: "bans/deny", Way: Rules}, {Keys: "bans/skip|skip-tree", Way: Excluded}, {Keys: "licenses/allow|exceptions", Way: Excluded},
	}},
)

// clippy are lints that were renamed. See https://github.com/rust-lang/rust-clippy/blob/master/clippy_lints/src/deprecated_lints.rs
var clippy = map[string]string{
	"empty_enum": "empty_enums", "integer_arithmetic": "arithmetic_side_effects",
	"block_in_if_condition_expr": "blocks_in_conditions", "blocks_in_if_conditions": "blocks_in_conditions",
	"cyclomatic_complexity": "cognitive_complexity", "match_on_vec_items": "indexing_slicing", "drop_copy": "dropping_copy_types",
	"temporary_cstring_as_ptr":                   "dangling_pointers_from_temporaries",
	"thread_local_initializer_can_be_made_const": "missing_const_for_thread_local", "option_map_or_err_ok": "manual_ok_or",
	"string_to_string": "implicit_clone", "let_underscore_drop": "rust::let_underscore_drop",
}
