/** The colours of one colour scheme. */
interface Colours {
  readonly background: string
  /** Background of cards, code and table heads. */
  readonly surface: string
  readonly text: string
  readonly dimmed: string
  readonly border: string
  readonly link: string
  readonly primary: string
  readonly 'on-primary': string
  readonly error: string
}

/**
 * The look of pages and mails outside the console. `packages/console/src/base/theme.test.ts` compares it with the
 * theme of the console.
 */
export const siteTheme = {
  font: 'system-ui, sans-serif',
  radius: '0.5rem',
  title: '1.6rem',
  subtitle: '1.2rem',
  light: {
    background: '#ffffff',
    surface: '#f8f9fa',
    text: '#000000',
    dimmed: '#495057',
    border: '#ced4da',
    link: '#1971c2',
    primary: '#1971c2',
    'on-primary': '#ffffff',
    error: '#c92a2a',
  },
  dark: {
    background: '#242424',
    surface: '#2e2e2e',
    text: '#c9c9c9',
    dimmed: '#b8b8b8',
    border: '#424242',
    link: '#74c0fc',
    primary: '#1971c2',
    'on-primary': '#ffffff',
    error: '#ff8787',
  },
} as const satisfies { light: Colours; dark: Colours } & Record<string, unknown>

const properties = (colours: Colours) =>
  Object.entries(colours)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';')

/** The theme as CSS custom properties, for both colour schemes. */
export const THEME_CSS = `:root{color-scheme:light dark;--font:${siteTheme.font};--radius:${siteTheme.radius};${properties(siteTheme.light)}}
@media(prefers-color-scheme:dark){:root{${properties(siteTheme.dark)}}}`
