"""What judges will see, in Chromium: by keys and by touch, wide and narrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.test_dashboard import at_dashboard
from tests.webjudge.sites import SUBJECTS, SYSTEM, make_site

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


def test_words_are_decided_by_keys(browser: Browser, tmp_path: Path) -> None:
    """Accept one, redact one, see what judges see, take it back, and go on."""
    site = make_site(tmp_path, judging="{identity_words: [Claude]}", judges=["J1"])
    text = f"# Plan\n\nBy Claude, for {SYSTEM}.\n\n" + "More to read.\n\n" * 60 + "Claude\n"
    (tmp_path / "solutions" / "P1" / f"{SUBJECTS[0]}.md").write_text(text)
    (tmp_path / "solutions" / "P1" / f"{SUBJECTS[1]}.md").write_text("By Claude.\n")
    with at_dashboard(browser, site) as dashboard:
        page = dashboard.page
        dashboard.open("/dashboard/solutions")
        expect(page.locator("#seen-count")).to_have_text("0 of 10 seen. ")
        dashboard.check()
        page.get_by_role("link", name="Start with the words found").click()
        current, said = page.locator("#found .is-current"), page.get_by_role("status").first
        expect(current).to_contain_text("Claude")
        expect(page.locator("#seen-count")).to_have_text(", 1 seen")
        dashboard.check()
        page.keyboard.press("n")
        expect(current).to_contain_text(SYSTEM)
        page.keyboard.press("a")
        expect(said).to_have_text(f"Accepted “{SYSTEM}”.")
        expect(current).to_contain_text("Claude")
        # Keys are letters in a field, and can be switched off.
        page.locator("#own").press_sequentially("ar")
        expect(page.locator("#own")).to_have_value("ar")
        page.get_by_label("Single keys").uncheck()
        page.keyboard.press("r")
        page.get_by_label("Single keys").check()
        expect(said).to_contain_text("Accepted")
        page.keyboard.press("r")
        expect(said).to_have_text("Redacted “Claude”.")
        expect(page.locator("#shown .redacted")).to_have_count(2)
        dashboard.check()
        preview = page.context.new_page()
        preview.goto(f"{dashboard.base}/dashboard/preview")
        preview.get_by_role("link", name="Problem 1").click()
        expect(preview.get_by_text("[redacted]").first).to_be_attached()
        assert "Claude, for" not in preview.content()
        preview.close()
        page.keyboard.press("u")
        expect(said).to_have_text("Taken back: “Claude”.")
        expect(page.locator("#shown mark.hit")).to_have_count(2)
        page.locator("#shown").get_by_text("More to read.").first.select_text()
        expect(page.locator("#own")).to_have_value("More to read.")
        page.set_viewport_size({"width": 390, "height": 844})
        page.locator("#deciding").get_by_role("button", name="Redact").click()
        expect(said).to_have_text("Redacted “Claude”.")
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("heading", name=SUBJECTS[1])).to_be_visible()
        page.keyboard.press("p")
        expect(page.get_by_role("heading", name=SUBJECTS[0])).to_be_visible()
    site.store.close()
