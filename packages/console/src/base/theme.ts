import { type CSSVariablesResolver, createTheme, DEFAULT_THEME, type MantineColorsTuple } from '@mantine/core'
import { t } from '../texts/texts.ts'

const FONT = ['system-ui', 'sans-serif'].join(', ')
const closeButton = { 'aria-label': t('common.close') }

/** Small white text on Mantine's darkest orange has too little contrast. */
const orange = DEFAULT_THEME.colors.orange.with(9, '#bf3c0a') as unknown as MantineColorsTuple

export const theme = createTheme({
  colors: { orange },
  primaryColor: 'blue',
  // Dark enough for white text in both schemes.
  primaryShade: { light: 8, dark: 8 },
  fontFamily: FONT,
  headings: {
    fontFamily: FONT,
    sizes: { h1: { fontSize: '1.6rem' }, h2: { fontSize: '1.2rem' } },
  },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  // Keyed by name, because importing the components would add them to the first view.
  components: {
    Modal: { defaultProps: { closeButtonProps: closeButton } },
    Notification: {
      defaultProps: { closeButtonProps: closeButton },
      styles: { description: { color: 'var(--mantine-color-text)' } },
    },
    Drawer: { defaultProps: { closeButtonProps: closeButton } },
    // The placeholder is no item, so that a menu may not contain it. The focus goes to the first item instead.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
  },
})

/** Raises the contrast of Mantine's muted colours to at least 4.5:1. */
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
