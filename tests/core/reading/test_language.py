"""In which language a page is: as it states, unless its text contradicts it."""

from __future__ import annotations

import pytest

from websearch_core.reading import read_html
from websearch_core.reading._language import correct_language

# The same four sentences.
TEXTS = {
    "en": "The harbour is old, and it has been there for a long time. We do not know who built it. "
    "There are many boats in the water when the sun is out, but in the winter all of them are on land. "
    "You can take the bus from the town to the sea, which is not far from here.",
    "de": "Der Hafen ist alt, und er war schon vor langer Zeit da. Wir wissen nicht, wer ihn gebaut hat. "
    "Es sind viele Boote auf dem Wasser, wenn die Sonne scheint, aber im Winter sind sie alle an Land. "
    "Man kann mit dem Bus von der Stadt zum Meer fahren, das nicht weit von hier ist.",
    "sv": "Hamnen är gammal, och den har funnits där sedan länge. Vi vet inte vem som har byggt den. "
    "Det är många båtar på vattnet när solen skiner, men på vintern ligger de alla på land. "
    "Man kan ta bussen från staden till havet, som inte är långt från oss.",
    "vi": "Cảng này đã cũ và đã có ở đây từ lâu. Chúng tôi không biết ai là người đã xây nó. "
    "Có nhiều thuyền trên nước khi trời nắng, nhưng vào mùa đông những thuyền này đều ở trên bờ. "
    "Bạn có thể đi xe từ thành phố đến biển, một nơi không xa và được nhiều người biết như vậy.",
    "el": "Το λιμάνι είναι παλιό και βρίσκεται εκεί εδώ και πολύ καιρό. Δεν ξέρουμε ποιος το έχτισε.",
    "bn": "বন্দরটি পুরানো এবং অনেক দিন ধরে সেখানে আছে। আমরা জানি না কে এটি তৈরি করেছে। সেখানে অনেক নৌকা আছে।",
    "ja": "港は古く、長い間そこにあります。誰が建てたのかは分かりません。晴れた日には水の上にたくさんの船がありますが、冬はみな陸の上です。海はここから遠くありません。",
    "zh": "港口很古老，已经在那里很久了。我们不知道是谁建造的。阳光明媚的时候水面上有很多船，但冬天它们都在岸上。你可以从城里坐公共汽车去海边，离这里不远，风景也很好看。",
    "ru": "Гавань старая, и она была здесь давно. Мы не знаем, кто её построил. На воде много лодок, когда светит солнце, "
    "но зимой все они на берегу. Из города к морю можно доехать на автобусе, это не так далеко от нас, как может быть.",
}


@pytest.mark.parametrize("language", TEXTS)
def test_a_page_without_a_tag_has_the_language_of_its_text(language):
    assert correct_language(None, TEXTS[language]) == language


def test_few_words_contradict_a_tag_of_whose_words_there_are_none():
    text = "Хата стоїть на горі, і до неї йде стежка від озера. У хаті є піч. " * 4

    assert correct_language("en", text) == "uk"
    assert correct_language(None, text) is None


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("tag", ["en-US", "fr", "tr"])
def test_the_text_is_believed_where_it_contradicts_the_tag(language, tag):
    if tag.startswith(language):
        language = tag

    assert correct_language(tag, TEXTS[language.split("-")[0]]) == language


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("de-AT", TEXTS["de"]),
        ("zh-Hant", TEXTS["zh"]),
        ("ja", TEXTS["ja"]),
        ("mi", TEXTS["en"]),  # unknown here
        ("sv", TEXTS["sv"] + TEXTS["en"]),  # a part of it
        ("en", "Saab 900 Turbo, 1987. 175 hk. Röd. Volvo 240, 1990. Blå."),
        ("en", "och det att i en " * 2),  # too little
        ("de", ""),
        (None, "iPhone SE, iPhone s, a, i, o, se " * 10),
        (None, "Lorem ipsum dolor sit amet, consectetur adipiscing elit. " * 9),
    ],
)
def test_a_tag_stays_unless_the_text_is_clearly_in_another_language(tag, text):
    assert correct_language(tag, text) == tag


@pytest.mark.parametrize(
    ("tag", "text", "language"),
    [
        (
            "en",
            (
                "Der Leuchtturm ist im Winter zu, und wer in die Kammer will, fragt nach dem "
                "Wärter. In der Nacht wird das Licht von zwei Männern bewacht, die auch am "
                "Tag nicht weit sind, aber sie haben für Fragen nur selten Zeit."
            ),
            "de",
        ),
        (
            "no",
            (
                "Fyret er lukket om vinteren, og den som vil se lampen, skal tale med "
                "vogteren. Om natten bliver lyset passet af to mænd, som også er der om "
                "dagen, men de har ikke tid til at svare på noget fra andre end børn."
            ),
            "no",
        ),
    ],
)
def test_words_that_two_languages_share_do_not_keep_a_tag(tag, text, language):
    assert correct_language(tag, text) == language


@pytest.mark.parametrize(
    ("tag", "language"), [("en-US", "sv"), ("fr", "el"), ("en", "bn")]
)
def test_a_note_says_that_a_page_is_in_another_language(tag, language):
    markup = f"<html lang={tag}><title>A harbour</title><main><h1>A</h1><p>{TEXTS[language]}</p></main>"

    page = read_html(markup.encode(), "https://harbour.example/a")

    assert page.language == language
    assert (
        f"the page states the language {tag}, but its text is in {language}"
        in page.notes
    )
