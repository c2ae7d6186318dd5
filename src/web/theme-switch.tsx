import { useEffect, useState } from 'react';

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const KEPT = 'skillopt-theme';

/** A report that was opened from a disk may not keep anything: then the choice lasts as long as the page. */
function keptTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEPT)) ?? 'system';
  } catch {
    return 'system';
  }
}

function keepTheme(theme: Theme): void {
  try {
    localStorage.setItem(KEPT, theme);
  } catch {}
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState(keptTheme);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    keepTheme(theme);
  }, [theme]);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
  return (
    <button type="button" aria-label={`Theme: ${theme}. Change to ${next}`} onClick={() => setTheme(next)}>
      <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="5.5" />
        {theme === 'light' ? null : (
          <path
            className="half"
            d={theme === 'dark' ? 'M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11' : 'M8 2.5a5.5 5.5 0 0 1 0 11z'}
          />
        )}
      </svg>
      <span className="word">{theme}</span>
    </button>
  );
}
