"""The live page of the service in a real browser."""

import json
import subprocess
import urllib.request

import pytest
from running_service import PROGRAM, wait_for
from selenium.webdriver.common.by import By


def tiles(browser):
    """The figures on top of the page, by what they are called."""
    script = """return [...document.querySelectorAll('.tile')].map(
        (tile) => [tile.querySelector('span').textContent, tile.querySelector('b').textContent])"""
    return dict(browser.execute_script(script))


def rows_learned(browser):
    return int(tiles(browser).get("rows learned", "0").replace("\u202f", ""))


def state_of_the_connection(browser):
    return browser.find_element(By.ID, "connection").text


def put(address, path, body, token=None):
    headers = {"content-type": "application/json"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    data = json.dumps(body).encode()
    method = "PUT" if path.count("/") == 3 else "POST"
    request = urllib.request.Request(address + path, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


def teach(address, token=None):
    """A model of two columns that has learned something."""
    put(address, "/v1/models/pumps", {"target": "state"}, token)
    rows = [
        {"volts": 200 + i % 40, "mode": "eco" if i % 3 else "sport", "state": i % 40 > 20}
        for i in range(300)
    ]
    put(address, "/v1/models/pumps/test-then-train", {"rows": rows}, token)


def test_the_demonstration_is_alive_and_shows_a_drift(serve, browser, screenshot):
    service = serve("--demo")
    browser.get(service.address)
    first = wait_for(lambda: rows_learned(browser), seconds=20)
    wait_for(lambda: rows_learned(browser) > first, seconds=10)
    assert state_of_the_connection(browser) == "live"
    assert browser.title == "demo · broadstream"

    def has_drifted():
        drifts = tiles(browser).get("drifts · restarts", "0 · 0")
        return drifts.split(" · ")[0] != "0"

    wait_for(has_drifted, seconds=150, every=0.5)
    assert browser.find_elements(By.CSS_SELECTOR, "#accuracy svg .drift")
    screenshot("demonstration")


def test_a_prediction_by_hand_has_reasons(serve, browser, screenshot, tmp_path):
    service = serve("--data", str(tmp_path / "data"))
    teach(service.address)
    browser.get(service.address)
    wait_for(lambda: browser.find_elements(By.NAME, "volts"), seconds=10)
    browser.find_element(By.NAME, "volts").send_keys("235")
    browser.find_element(By.NAME, "mode").send_keys("eco")
    browser.find_element(By.CSS_SELECTOR, "#try button").click()
    answer = browser.find_element(By.ID, "answer")
    wait_for(lambda: "with" in answer.text, seconds=10)
    assert answer.text.startswith("true with"), answer.text
    assert "volts" in answer.text, "the input that decides is among the reasons"
    screenshot("prediction")


def test_without_a_model_the_page_says_how_to_create_one(serve, browser, tmp_path):
    service = serve("--data", str(tmp_path / "data"))
    browser.get(service.address)
    command = browser.find_element(By.CSS_SELECTOR, "#empty pre")
    wait_for(lambda: command.is_displayed(), seconds=10)
    assert service.address in command.text
    put(service.address, "/v1/models/first", {"target": "label"})
    wait_for(lambda: not command.is_displayed(), seconds=15)


def test_a_token_is_required_where_there_are_tokens(serve, browser, tmp_path):
    data = str(tmp_path / "data")
    create = [PROGRAM, "serve", "token", "create", "--data", data, "--role", "admin", "ops"]
    secret = subprocess.run(create, check=True, capture_output=True, text=True).stdout.strip()
    service = serve("--data", data)
    teach(service.address, secret)
    # Each refused request is in the console of the browser.
    browser.expected_complaints = ("401",)
    browser.get(service.address)
    dialog = browser.find_element(By.ID, "token")
    wait_for(dialog.is_displayed, seconds=10)
    typed = browser.find_element(By.ID, "token-input")
    typed.send_keys("wrong")
    dialog.find_element(By.TAG_NAME, "button").click()
    wait_for(dialog.is_displayed, seconds=10)
    assert rows_learned(browser) == 0
    typed.clear()
    typed.send_keys(secret)
    dialog.find_element(By.TAG_NAME, "button").click()
    wait_for(lambda: rows_learned(browser) == 300, seconds=10)
    assert secret not in service.log()


@pytest.mark.parametrize(("name", "width"), [("phone", 390), ("desktop", 1400)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_phones_and_desktops_in_light_and_dark(
    serve, browser, screenshot, tmp_path, name, width, scheme
):
    service = serve("--data", str(tmp_path / "data"))
    teach(service.address)
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get(service.address)
    wait_for(lambda: rows_learned(browser) == 300, seconds=10)
    widths = "return [document.documentElement.scrollWidth, innerWidth]"
    scrolled, visible = browser.execute_script(widths)
    assert scrolled <= visible, "nothing sticks out at the side"
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in ground.strip("rgba()").split(",")[:3])
    assert (brightness > 384) == (scheme == "light")
    height = browser.execute_script("return document.documentElement.scrollHeight")
    metrics["height"] = height
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    screenshot(f"{name}-{scheme}")


def test_it_says_when_the_service_is_gone_and_comes_back_with_it(serve, browser, tmp_path):
    data = str(tmp_path / "data")
    service = serve("--data", data)
    teach(service.address)
    browser.get(service.address)
    wait_for(lambda: rows_learned(browser) == 300, seconds=10)
    browser.expected_complaints = ("ERR_",)
    service.stop()
    wait_for(lambda: "not connected" in state_of_the_connection(browser), seconds=10)
    serve("--data", data, listen=service.address.removeprefix("http://"))
    wait_for(lambda: state_of_the_connection(browser) == "live", seconds=20)
    put(service.address, "/v1/models/pumps/test-then-train", {"rows": [{"volts": 1, "state": 0}]})
    wait_for(lambda: rows_learned(browser) == 301, seconds=10)
