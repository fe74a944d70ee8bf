package suspect

import (
	"strings"

	"touchstone/agent/reviewer/hidden"
)

// elsewhere are the words for "ignore all previous instructions" in languages
// besides English that are common among programmers.
var elsewhere = [][3]string{
	{`ignorier\S*|vergiss|vergesst|missachte\S*|befolge`, `vorherig\S*|bisherig\S*|obig\S*|früher\S*|alle\S*|deine\S*`, `anweisung\S*|instruktion\S*|regeln|vorgaben|richtlinien`},
	{`ignore[rz]?|oublie[rz]?|ne tiens? pas compte`, `précédent\S*|antérieur\S*|ci-dessus|toutes|tes|vos`, `instructions?|consignes?|directives?|règles?`},
	{`ignor[ae]\S*|olvida\S*|descarta\S*|haz caso omiso`, `anterior\S*|previ[ao]s?|todas?|tus|de arriba`, `instruccion\S*|órdenes|reglas|directrices|indicaciones`},
	{`ignor[aei]\S*|dimentica\S*|trascura`, `precedent\S*|tutt[ei]|tue|sopra`, `istruzion\S*|regole|direttive`},
	{`ignor[ae]\S*|esqueça\S*|desconsidere`, `anterior\S*|previ[ao]s|todas|suas`, `instruç\S*|regras|diretrizes`},
	{`игнорируй\S*|забудь\S*|не обращай\S*`, `предыдущ\S*|прежни\S*|все|твои|ваши`, `инструкци\S*|указани\S*|правил\S*|команд\S*`},
	{`zignoruj|ignoruj|zapomnij`, `poprzedni\S*|wcześniejsz\S*|wszystki\S*`, `instrukcj\S*|polece\S*|zasad\S*`},
	{`negeer|vergeet`, `voorgaande|vorige|eerdere|alle|bovenstaande`, `instructies|aanwijzingen|regels|opdrachten`},
	{`bortse från|ignorera|glöm`, `tidigare|föregående|alla|ovanstående`, `instruktion\S*|anvisning\S*|regler`},
	{`yok say\S*|görmezden gel\S*|unut|dikkate alma\S*`, `önceki|tüm|bütün|yukarıdaki`, `talimat\S*|yönerge\S*|kurallar\S*`},
	{`ігноруй\S*|забудь\S*|не зважай\S*`, `попередн\S*|усі|всі|твої|ваші`, `інструкці\S*|вказівк\S*|правил\S*`},
	{`bỏ qua|phớt lờ|quên`, `trước|mọi|tất cả|ở trên`, `hướng dẫn|chỉ thị|chỉ dẫn|quy tắc`},
	{`تجاهل\S*|انس|تجاوز`, `السابق\S*|جميع|كل|أعلاه`, `التعليمات|الأوامر|القواعد|التوجيهات`},
	{`अनदेखा|नज़रअंदाज़|भूल`, `पिछले|सभी|पूर्व|उपरोक्त`, `निर्देश\S*|आदेश\S*|नियम\S*`},
	{`αγνόησ\S*|αγνόει\S*|ξέχασ\S*`, `προηγούμεν\S*|όλες|παραπάνω`, `οδηγίες|εντολές|κανόνες`},
	{`התעלם|התעלמי|התעלמו|שכח`, `מכל|קודמות|כל|שלמעלה`, `ההוראות|הוראות|הכללים|ההנחיות`},
	{`ignoruj\S*|zapomeň\S*|zabudni`, `předchozí\S*|předešl\S*|všechny|všetky|predchádzajúc\S*`, `pokyny|instrukce|pravidla|inštrukcie`},
	{`hagyd figyelmen kívül|felejtsd el|ne vedd figyelembe`, `korábbi|előző|összes|fenti`, `utasítás\S*|szabály\S*|útmutatás\S*`},
	{`ignor[ăa]\S*|uită`, `anterioar\S*|precedent\S*|toate`, `instrucțiun\S*|reguli\S*|directive\S*`},
	{`ohita|unohda|jätä huomiotta`, `aiemmat|edelliset|kaikki|yllä olevat`, `ohjeet|säännöt|käskyt`},
	{`ignorer|glem|se bort fra`, `tidligere|forrige|alle|foregående|ovenstående`, `instruktion\S*|instruks\S*|regler|anvisninger`},
	{`نادیده|فراموش`, `قبلی|همه|تمام|بالا`, `دستورالعمل\S*|دستور\S*|قوانین`},
	{`উপেক্ষা|ভুলে`, `পূর্ববর্তী|সমস্ত|আগের`, `নির্দেশ\S*|নিয়ম\S*`},
	{`abaikan|lupakan`, `sebelumnya|semua|di atas|sebelum ini`, `instruksi|perintah|petunjuk|aturan|arahan`},
	{`игнорирай\S*|забрави|пренебрегни`, `предишни\S*|всички|горните`, `инструкци\S*|указани\S*|правила`},
	{`ignoriši|zanemari\S*|prezri|zaboravi\S*|pozabi`, `prethodn\S*|sv[ae]|vsa|vse|prejšnj\S*`, `uputstva|upute|naputke|navodila|instrukcije|pravila`},
	{`ignoreeri\S*|unusta\S*|eira`, `eelneva\S*|kõiki|kõik|varasema\S*`, `juhis\S*|käsud|reegl\S*`},
	{`ignoruok\S*|pamiršk\S*|nepaisyk\S*`, `ankstesn\S*|visus|visas|visų`, `nurodym\S*|instrukcij\S*|taisykl\S*`},
	{`ignorē\S*|aizmirsti|neņem vērā`, `iepriekšēj\S*|visus|visas`, `norādījum\S*|instrukcij\S*|noteikum\S*`},
	{`უგულებელყავი\S*|დაივიწყე\S*`, `წინა|ყველა`, `ინსტრუქცი\S*|მითითებ\S*|წეს\S*`},
	{`անտեսիր\S*|մոռացիր\S*`, `բոլոր|նախորդ`, `հրահանգ\S*|ցուցում\S*`},
	{`புறக்கணி\S*|மறந்து\S*`, `முந்தைய|அனைத்து`, `அறிவுறுத்தல்\S*|வழிமுறை\S*`},
	{`نظر انداز|بھول`, `پچھلی|تمام|سابقہ`, `ہدایات|احکامات`},
	{`balewalain|kalimutan|huwag pansinin`, `lahat|nauna\S*`, `tagubilin|utos|panuto`},
	{`puuza|sahau`, `yote|yaliyotangulia|zilizotangulia`, `maagizo|maelekezo|amri`},
	{`ignoreer\S*|vergeet`, `vorige|alle|voorafgaande`, `instruksies|opdragte|reëls`},
	{`hunsaðu|gleymdu`, `fyrri|öll`, `fyrirmæli|leiðbeiningar|reglur`},
	{`neglege|ignora|obliviscere`, `omnia|priora|omnes`, `mandata|praecepta|regulas`},
	{`ignoru|forgesu|malatentu`, `ĉiujn|antaŭajn`, `instrukciojn|ordonojn|regulojn`},
	// of which some are written in Latin letters as well
	{`ignoriru[jy]\S*|zabud\S*`, `predydus\S*|vse|prezhni\S*`, `instrukts\S*|ukazani\S*|pravila`},
	{`hulue|wushi`, `zhiqian|suoyou`, `zhishi|zhiling|guize`},
	{`mushi|wasure\S*`, `izen|subete|mae`, `shiji|meirei`},
	{`nazarandaa?z|bhool|andekha`, `pichhle|sabhi|pichle`, `nirdesh\S*|aadesh\S*|niyam\S*`},
}

// summons are, in such languages, who is called upon and that it is to approve.
// A person is asked to approve in the same words; a machine is not.
var summons = [][2]string{
	{`(?:ki|llm|ai)[- ]?(?:prüfer|gutachter|reviewer|assistent|modell|agent|system)\S*|sprachmodell\S*`, `genehmige\S*|gib <4>frei|(?:melde|nenne|berichte|liste) <2>keine?`},
	{`(?:relecteur|modèle|agent|assistant|évaluateur)s? (?:ia|automatique)s?|intelligence artificielle`, `approuve[rz]?`},
	{`(?:revisor|modelo|agente|asistente|evaluador)(?:es)? (?:de )?(?:ia|automático)s?|inteligencia artificial`, `aprueb\S*|aprobar`},
	{`(?:revisore|modello|agente|assistente) (?:ia|ai|automatico)|intelligenza artificiale`, `approv[ai]\S*`},
	{`(?:revisor|modelo|agente|assistente) (?:de )?(?:ia|automático)|inteligência artificial`, `aprov[ae]\S*`},
	{`ии[- ]?(?:ревьюер|рецензент|агент|ассистент|модел)\S*|нейросет\S*|языков\S* модел\S*`, `одобр\S*|утверди\S*`},
	{`(?:recenzent|model|agent|asystent)\S* (?:ai|si)`, `zatwierdź\S*|zaakceptuj\S*`},
	{`ai[- ]?(?:beoordelaar|reviewer|model|assistent)\S*|taalmodel\S*`, `keur <4>goed`},
	{`ai[- ]?(?:granskare|modell|assistent)\S*|språkmodell\S*`, `godkänn`},
	{`yapay zek[aâ]\S*|dil modeli`, `onayla\S*`},
	{`ші[- ]?(?:рецензент|агент|модел)\S*|нейромереж\S*`, `схвал\S*|затверд\S*`},
}

// approvals are the beginnings of the words for it.
var approvals = strings.Fields("genehmig gib melde nenne berichte liste approuve aprueb aprobar approva approvi aprov одобр утверди zatwierdź zaakceptuj keur godkänn onayla схвал затверд")

// unspaced are whole orders in languages that put no spaces between words.
const unspaced = `忽略.{0,12}(?:指令|指示|说明|规则|提示)|无视.{0,12}(?:指令|指示|规则)|忘记.{0,12}(?:指令|指示)|批准(?:此|这个|本|该)(?:拉取请求|合并请求|pr|更改|变更)|` +
	`(?:以前|前|上記|これまで|すべて)の.{0,8}(?:指示|命令|指令|ルール).{0,8}(?:無視|忘れ)|(?:이전|위의|모든).{0,30}(?:지시|명령|지침).{0,10}무시|` +
	`(?:เพิกเฉย|ละเว้น|ลืม).{0,12}(?:คำสั่ง|คำแนะนำ|กฎ)|ai.?(?:レビュアー|レビュー|エージェント|モデル).{0,30}(?:承認|報告しない)|ai.{0,3}(?:리뷰어|검토자|모델|에이전트).{0,30}(?:승인|보고하지)|ai.{0,3}(?:审查|审核|評審|审阅).{0,20}(?:批准|通过|核准)`

var unspacedTopics = strings.Fields(hidden.Plain("忽略 无视 忘记 批准 無視 忘れ 무시 เพิกเฉย ละเว้น ลืม 承認 報告しない 승인 보고하지 核准 通过"))

// foreign are those orders as patterns. Readings are folded to what they seem to
// say, so the words are as well; signs of a pattern are ASCII and stay.
func foreign() []pattern {
	fold := func(s string) string { return strings.ReplaceAll(hidden.Plain(s), `\s`, `\S`) }
	drop := pattern{why: "tells a model in another language to drop its instructions", words: unspacedTopics, with: unspacedTopics}
	all := []string{fold(unspaced)}
	for _, e := range elsewhere {
		do, which, orders := "(?:"+fold(e[0])+")", "(?:"+fold(e[1])+")", "(?:"+fold(e[2])+")"
		all = append(all, do+" <3>"+which+" <3>"+orders, do+" <3>"+orders+" <3>"+which, which+" <3>"+orders+" <3>"+do)
		for w := range strings.SplitSeq(strings.NewReplacer(`\S*`, "", `s?`, "").Replace(fold(e[2])), "|") {
			drop.words = append(drop.words, w)
		}
		for w := range strings.SplitSeq(fold(e[0]), "|") {
			if i := strings.IndexAny(w, `\[?`); i >= 0 {
				w = w[:i]
			}
			drop.with = append(drop.with, w)
		}
	}
	drop.any = anyOf(all...)
	summon := pattern{why: "addresses the reviewing machine in another language"}
	for _, w := range approvals {
		summon.words = append(summon.words, fold(w))
	}
	all = nil
	for _, s := range summons {
		all = append(all, `(?:^|[ "'(:,.>-])(?:`+fold(s[0])+`)<rest>(?:`+fold(s[1])+`)`)
	}
	summon.any = anyOf(all...)
	return []pattern{drop, summon}
}
