import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'
import { t } from '../texts/texts.ts'

const FONT = "'Inter Variable', system-ui, sans-serif"
const closeButton = { 'aria-label': t('common.close') }

const shades = (colours: string) => colours.split(' ') as unknown as MantineColorsTuple

/** The neutrals of the dark scheme, from text to the darkest ground. */
const dark = shades('#eef2f6 #b4bdc9 #919ba9 #919ba9 #3a4452 #212832 #181d24 #0b0e12 #080a0d #050608')

/** The neutrals of the light scheme, from the ground to text. */
const gray = shades('#f6f7f9 #f0f2f5 #e5e9ee #e1e5ea #c3cad3 #a3adb9 #7c8896 #5b6572 #434d5a #11161c')

/** The accent: 7 fills in the dark scheme, 8 in the light one; 3 and 9 are its texts. */
const blue = shades('#e4effc #c3ddfb #9dcbff #79b8ff #5aa3f5 #3f8de8 #2f7fdd #1f6fd6 #1762c6 #135fc0')

/** For what stops a robot, and for what endangers data or people. */
const red = shades('#fde6e6 #fbc9c8 #ffb3af #ff9c96 #ff827b #ff453e #e5383b #d4202a #c41a24 #b8141e')

/** The theme of all pages: the only place with colours, type, corners and spaces. docs/console.md explains their use. */
export const theme = createTheme({
  colors: { dark, gray, blue, red },
  black: '#11161c',
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 7 },
  fontFamily: FONT,
  fontFamilyMonospace: 'ui-monospace, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  lineHeights: { xs: '1.4', sm: '1.4', md: '1.45', lg: '1.45', xl: '1.3' },
  spacing: { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.5rem', xl: '2rem' },
  radius: { xs: '4px', sm: '6px', md: '10px', lg: '14px', xl: '32px' },
  defaultRadius: 'md',
  headings: {
    fontFamily: FONT,
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.5rem', lineHeight: '1.2' },
      h2: { fontSize: '1rem', lineHeight: '1.3' },
      h3: { fontSize: '0.875rem', lineHeight: '1.4' },
    },
  },
  cursorType: 'pointer',
  respectReducedMotion: true,
  // Keyed by name, because importing the components would add them to the first view.
  components: {
    Badge: { defaultProps: { variant: 'default', tt: 'none', fw: 550, size: 'md' } },
    Modal: { defaultProps: { closeButtonProps: closeButton, radius: 'lg', centered: true } },
    Notification: {
      defaultProps: { closeButtonProps: closeButton },
      styles: { description: { color: 'var(--mantine-color-text)' } },
    },
    Alert: { defaultProps: { variant: 'outline' } },
    Card: { defaultProps: { radius: 'lg', withBorder: true } },
    Textarea: { defaultProps: { autosize: true } },
    Paper: { defaultProps: { radius: 'lg' } },
    Drawer: { defaultProps: { closeButtonProps: closeButton, radius: 0 } },
    // The placeholder is no item, so that a menu may not contain it. The focus goes to the first item instead.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
  },
})

/** What lies on a picture, in both schemes: a picture may be black or white. */
const onPicture = {
  '--plate': 'rgb(9 12 16 / 82%)',
  '--plate-solid': '#0b0e12',
  '--plate-line': 'rgb(255 255 255 / 14%)',
  '--ink': '#f3f6f9',
  '--ink-2': '#c6ced8',
  '--ink-off': '#a6aeb9',
  '--hud-live': '#4fdca3',
  '--hud-delayed': '#ffb840',
  '--hud-blind': '#ff8f88',
  '--hud-paused': '#a9bcff',
  '--hud-accent': '#86c1ff',
  '--on-delayed': '#1d1300',
  '--stop': '#d4202a',
  '--stop-pressed': '#93131a',
  '--stop-rim': '#ff453e',
}

/** What differs between the schemes: in light, and in dark. */
const schemed: Readonly<Record<`--${string}`, readonly [light: string, dark: string]>> = {
  '--surface-1': ['#ffffff', '#11151a'],
  '--surface-2': ['#f0f2f5', '#181d24'],
  '--surface-3': ['#e5e9ee', '#212832'],
  '--line': ['#e1e5ea', '#262d37'],
  '--line-strong': ['#c3cad3', '#3a4452'],
  '--text-2': ['#434d5a', '#b4bdc9'],
  '--text-3': ['#5b6572', '#919ba9'],
  '--accent': ['#135fc0', '#79b8ff'],
  '--accent-soft': ['#e4effc', '#13273f'],
  '--status-live': ['#0a7350', '#45d39a'],
  '--status-delayed': ['#8f5600', '#ffb840'],
  '--status-blind': ['#b8141e', '#ff827b'],
  '--status-paused': ['#3b4fc4', '#a9bcff'],
  '--status-off': ['#5b6572', '#919ba9'],
  '--soft-live': ['#e0f5ec', '#0e2b22'],
  '--soft-delayed': ['#fdf0d8', '#33240a'],
  '--soft-blind': ['#fde6e6', '#3a1416'],
  '--soft-paused': ['#e8ebfd', '#1b2240'],
  '--shadow-hover': ['0 1px 2px rgb(16 24 32 / 6%)', '0 1px 2px rgb(0 0 0 / 40%)'],
  '--shadow-above': ['0 12px 40px rgb(16 24 32 / 16%)', '0 12px 40px rgb(0 0 0 / 55%)'],
  '--mantine-color-body': ['#f6f7f9', '#0b0e12'],
  '--mantine-color-text': ['#11161c', '#eef2f6'],
  '--mantine-color-dimmed': ['#434d5a', '#b4bdc9'],
  '--mantine-color-placeholder': ['#5b6572', '#919ba9'],
  '--mantine-color-error': ['#b8141e', '#ff827b'],
  '--mantine-color-anchor': ['#135fc0', '#79b8ff'],
  '--mantine-color-default-border': ['#c3cad3', '#3a4452'],
}

const inScheme = (index: 0 | 1) =>
  Object.fromEntries(Object.entries(schemed).map(([name, values]) => [name, values[index]]))

/** The custom properties of the console next to those of Mantine. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: { ...onPicture, '--ease': 'cubic-bezier(.2, .7, .2, 1)' },
  light: { ...inScheme(0), '--mantine-color-blue-light-hover': '#c3ddfb' },
  dark: {
    ...inScheme(1),
    '--mantine-color-default': '#11151a',
    '--mantine-color-default-hover': '#181d24',
  },
})
