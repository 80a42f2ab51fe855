// On a narrow screen, the buttons for the navigation and the search are labels of hidden boxes. This makes them reachable
// by keyboard; the theme answers Enter, and this Space and Escape.
document.querySelectorAll(".md-header label[for=__drawer], .md-header label[for=__search]").forEach(label => {
  label.tabIndex = 0
  label.setAttribute("role", "button")
  label.addEventListener("keydown", event => {
    if (event.key === " ") {
      event.preventDefault()
      label.click()
    }
  })
})
document.addEventListener("keydown", event => {
  const drawer = document.getElementById("__drawer")
  if (event.key === "Escape" && drawer.checked) {
    drawer.click()
    document.querySelector(".md-header label[for=__drawer]").focus()
  }
})
