import {
  type CSSVariablesResolver,
  colorsTuple,
  createTheme,
  DEFAULT_THEME,
  Drawer,
  Modal,
} from '@mantine/core'

// Mantine's darkest orange is too bright for small white text on it.
const orange = colorsTuple([...DEFAULT_THEME.colors.orange.slice(0, 9), '#c2410c'])

export const theme = createTheme({
  colors: { orange },
  primaryColor: 'blue',
  // Dark enough for white text on it, in either scheme.
  primaryShade: { light: 8, dark: 8 },
  fontFamily: 'system-ui, sans-serif',
  headings: {
    fontFamily: 'system-ui, sans-serif',
    sizes: { h1: { fontSize: '1.6rem' }, h2: { fontSize: '1.2rem' } },
  },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Modal: Modal.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } }),
    Drawer: Drawer.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } }),
  },
})

/** Mantine's quiet colours are too faint to be read by everybody: at least 4.5:1 here. */
export const cssVariables: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': colors.gray[7],
    '--mantine-color-placeholder': colors.gray[7],
    '--mantine-color-error': colors.red[9],
    '--mantine-color-anchor': colors.blue[8],
    '--mantine-color-blue-light-hover': colors.blue[1],
  },
  dark: {
    '--mantine-color-dimmed': colors.dark[1],
    '--mantine-color-placeholder': colors.dark[1],
    '--mantine-color-error': colors.red[4],
    '--mantine-color-anchor': colors.blue[3],
  },
})
