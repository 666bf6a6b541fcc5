import '../base/mantine.css'
import '../base/app.css'
import { createTheme, MantineProvider, mergeThemeOverrides } from '@mantine/core'
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { cssVariables, theme } from '../base/theme.ts'
import { Gallery } from './gallery.tsx'

// A page for developers and tests, apart from the console: no data, no sign-in, and a font that is the same everywhere.

const font = '"Inter Variable"'
const galleryTheme = mergeThemeOverrides(theme, createTheme({ fontFamilyMonospace: font }))

// Links need a router. Its addresses are in memory, so that a link leaves the page unchanged.
const router = createRouter({
  routeTree: createRootRoute({ component: Gallery, notFoundComponent: () => null }),
  history: createMemoryHistory(),
})

const root = document.getElementById('root')
if (!root) throw new Error('gallery.html has no #root')
createRoot(root).render(
  <MantineProvider theme={galleryTheme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
    <RouterProvider router={router} />
  </MantineProvider>,
)
