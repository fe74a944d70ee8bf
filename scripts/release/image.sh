#!/bin/sh
# image.sh DIST makes the relay's image of the Linux binaries in DIST, without a daemon: the same
# as scripts/deploy/Dockerfile does, as DIST/touchstone-relay_image_ARCH.tar for `docker load`,
# `podman load` or `crane push`.
set -eu
dist=$1
work=$(mktemp -d)
# crane changes an image only in a registry: this one lives as long as the script.
GOBIN=$work go install github.com/google/go-containerregistry/cmd/crane@v0.20.6
crane=$work/crane
port=${IMAGE_PORT:-5017}
"$crane" registry serve --address "127.0.0.1:$port" --disk "$work" > "$work/registry.log" 2>&1 &
registry=$!
trap 'kill $registry; rm -rf "$work"' EXIT
until "$crane" catalog "127.0.0.1:$port" > /dev/null 2>&1; do
	kill -0 $registry || { cat "$work/registry.log"; exit 1; }
done
for arch in amd64 arm64; do
	root=$work/root-$arch
	mkdir -p "$root/etc/ssl/certs" "$root/data"
	cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
	cp "$dist"/touchstone-relay_linux_"$arch"*/touchstone-relay "$root/"
	tar --create --file "$work/$arch.tar" --directory "$root" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner etc touchstone-relay
	tar --append --file "$work/$arch.tar" --directory "$root" --mtime=@0 --owner=65532 --group=65532 --numeric-owner data
	name=127.0.0.1:$port/touchstone-relay:$arch
	"$crane" append --oci-empty-base --new_layer "$work/$arch.tar" --new_tag "$name"
	"$crane" mutate "$name" --tag "$name" --set-platform "linux/$arch" --user 65532:65532 --workdir /data \
		--exposed-ports 8080/tcp --entrypoint /touchstone-relay --cmd serve,--listen,0.0.0.0:8080
	"$crane" pull "$name" "$dist/touchstone-relay_image_$arch.tar"
done
