/** The colours of one colour scheme. */
interface Colours {
  readonly background: string
  /** Background of cards, rows and code. */
  readonly surface: string
  readonly text: string
  readonly dimmed: string
  readonly border: string
  /** Border of what can be pressed or filled in. */
  readonly edge: string
  readonly link: string
  /** Background of initials. */
  readonly soft: string
  readonly primary: string
  readonly 'on-primary': string
  readonly live: string
  readonly error: string
}

/**
 * The look of pages and mails outside the console. `packages/console/src/base/theme.test.ts` compares it with the
 * theme of the console.
 */
export const siteTheme = {
  font: "'Inter Variable', system-ui, sans-serif",
  radius: '10px',
  title: '1.5rem',
  subtitle: '1.25rem',
  light: {
    background: '#f6f7f9',
    surface: '#ffffff',
    text: '#11161c',
    dimmed: '#434d5a',
    border: '#e1e5ea',
    edge: '#c3cad3',
    link: '#135fc0',
    soft: '#e4effc',
    primary: '#1762c6',
    'on-primary': '#ffffff',
    live: '#0a7350',
    error: '#b8141e',
  },
  dark: {
    background: '#0b0e12',
    surface: '#11151a',
    text: '#eef2f6',
    dimmed: '#b4bdc9',
    border: '#262d37',
    edge: '#3a4452',
    link: '#79b8ff',
    soft: '#13273f',
    primary: '#1f6fd6',
    'on-primary': '#ffffff',
    live: '#45d39a',
    error: '#ff827b',
  },
} as const satisfies { light: Colours; dark: Colours } & Record<string, unknown>

/** Where the font is served. The version changes the address, because browsers keep the file for a year. */
export const FONT_ADDRESS = '/site/inter-5.3.0.woff2'

const properties = (colours: Colours) =>
  Object.entries(colours)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';')

/** The font, and the theme as CSS custom properties, for both colour schemes. */
export const THEME_CSS = `@font-face{font-family:'Inter Variable';src:url(${FONT_ADDRESS}) format('woff2');font-weight:400 750;font-display:swap}
:root{color-scheme:light dark;--font:${siteTheme.font};--radius:${siteTheme.radius};${properties(siteTheme.light)}}
@media(prefers-color-scheme:dark){:root{${properties(siteTheme.dark)}}}`
