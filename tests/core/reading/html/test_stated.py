"""What a page states about its thing, and shows, is content: wherever it stands, and
however short it is.
"""

from __future__ import annotations
import json

import pytest

from websearch_core.reading import read_bytes

PROSE = (
    "<p>My grandmother baked this every autumn, when the whole village came to press "
    "the apples. The kitchen was full of steam, and nobody was ever sent away.</p>"
    "<p>The secret is patience: the dough must rest for a night, and the oven has to be "
    "hot before anything goes in. Everything else is a matter of taste.</p>"
)
AMOUNTS = ["200 g rye flour", "3 apples", "½ tsp cinnamon", "salt"]
STEPS = ["Knead and let it rest.", "Bake for forty minutes until the crust is brown."]
WIDGET = "<div class='wprm card widget'><a href=/print>Print</a>{}</div>"


def content_of(data: object, body: str, before: str = "") -> str:
    script = f"<script type='application/ld+json'>{json.dumps(data)}</script>"
    source = f"<title>Apple bread</title>{script}{before}<article><h1>Apple bread</h1>{PROSE}</article>{body}"
    page = read_bytes(source.encode(), "https://bread.example/apple", "text/html")
    return page.content


def recipe(**more: object) -> dict[str, object]:
    return {"@type": "Recipe", "name": "Apple bread", **more}


def spans(lines: list[str]) -> str:
    return "".join(
        f"<div><label><input type=checkbox><span>{line}</span></label></div>"
        for line in lines
    )


def test_the_ingredients_and_steps_of_a_recipe_are_content():
    data = recipe(
        recipeIngredient=AMOUNTS,
        recipeInstructions=[{"@type": "HowToStep", "text": step} for step in STEPS],
    )

    content = content_of(data, WIDGET.format(spans(AMOUNTS) + spans(STEPS)))
    for line in (*AMOUNTS, *STEPS):
        assert line in content


def test_an_amount_and_its_thing_may_stand_in_two_blocks():
    body = WIDGET.format("<div>200 g</div><div>rye flour</div><div>Share this</div>")

    content = content_of(recipe(recipeIngredient=["200 g rye flour"]), body)
    assert "200 g" in content
    assert "rye flour" in content
    assert "Share this" not in content


def test_the_answers_to_questions_are_content():
    answer = "Until Friday, if it is kept in a cloth."
    question = {
        "@type": "Question",
        "name": "How long does it keep?",
        "acceptedAnswer": {"@type": "Answer", "text": answer},
    }

    body = WIDGET.format(f"<div>How long does it keep?</div><div>{answer}</div>")
    assert answer in content_of({"@type": "FAQPage", "mainEntity": [question]}, body)


def test_the_description_of_a_job_is_content():
    duty = "You knead two hundred loaves a night."
    data = {
        "@type": "JobPosting",
        "title": "Baker",
        "description": f"<p>{duty}</p><p>And more.</p>",
    }

    assert duty in content_of(data, WIDGET.format(f"<div>{duty}</div>"))


def test_microdata_states_it_too():
    lines = "".join(f"<div itemprop=recipeIngredient>{line}</div>" for line in AMOUNTS)

    content = content_of({}, WIDGET.format(lines))
    for line in AMOUNTS:
        assert line in content


@pytest.mark.parametrize("frame", ["nav", "footer"])
def test_the_frame_of_a_page_states_nothing(frame):
    body = f"<{frame}><div>two spoons of honey</div></{frame}>"

    data = recipe(recipeIngredient=["two spoons of honey"])
    assert content_of(data, body) == content_of(recipe(), body)


def test_what_is_stated_but_not_shown_is_not_content():
    assert "honey" not in content_of(recipe(recipeIngredient=["honey"]), "")


def test_several_products_are_not_the_thing_of_the_page():
    things = [
        {
            "@type": "Product",
            "name": name,
            "description": f"A {name} of oak, oiled by hand.",
        }
        for name in ("bowl", "spoon")
    ]

    body = (
        "<aside>"
        + "".join(
            f"<a href=/{thing['name']}>{thing['description']}</a>" for thing in things
        )
        + "</aside>"
    )
    assert "of oak" not in content_of(things, body)


@pytest.mark.parametrize("kind", ["Article", "NewsArticle", "BlogPosting"])
def test_what_an_article_offers_is_not_the_thing_of_the_page(kind):
    bowl = {"@type": "Product", "name": "Bowl", "description": "A bowl of oiled oak."}
    article = {"@type": kind, "headline": "Apple bread"}
    body = "<aside><a href=/bowl>A bowl of oiled oak.</a></aside>"

    assert "oiled oak" not in content_of([article, bowl], body)
    assert "oiled oak" in content_of([bowl], body)
