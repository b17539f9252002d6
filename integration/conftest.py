"""What the tests of whole systems share: services that run, and a browser."""

import pytest
from running_service import ROOT, RunningService
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

SCREENSHOTS = ROOT / "target/screenshots"


@pytest.fixture
def serve(tmp_path):
    """Starts services, and stops them after the test."""
    running = []

    def start(*options, **settings):
        log = tmp_path / f"service-{len(running)}.log"
        running.append(RunningService(log, *options, **settings))
        return running[-1]

    yield start
    for service in running:
        assert service.stop() == 0, service.log()


@pytest.fixture
def browser():
    """A new Chromium, which must not have complained in its console when the test ends."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    # Without a sandbox it runs as root, too, and nothing but the service shall be asked for.
    for argument in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--window-size=1400,1000",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    driver.expected_complaints = ()
    yield driver
    complaints = [
        entry["message"]
        for entry in driver.get_log("browser")
        if entry["level"] in ("SEVERE", "WARNING")
        and not any(expected in entry["message"] for expected in driver.expected_complaints)
    ]
    driver.quit()
    assert complaints == []


@pytest.fixture
def screenshot(browser):
    """Stores what the browser shows under a name, for people to look at."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)

    def take(name):
        height = browser.execute_script("return document.documentElement.scrollHeight")
        browser.set_window_size(browser.get_window_size()["width"], height + 150)
        browser.save_screenshot(str(SCREENSHOTS / f"{name}.png"))

    return take
