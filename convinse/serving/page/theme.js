// The theme, before anything is painted: the one that was chosen here, else that of the system.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // storage may be forbidden: the system's theme stays
}
