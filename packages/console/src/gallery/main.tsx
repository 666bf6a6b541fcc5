import '../base/mantine.css'
import '../base/app.css'
import {
  Anchor,
  createTheme,
  Divider,
  Group,
  MantineProvider,
  mergeThemeOverrides,
  SegmentedControl,
  Stack,
  Text,
  Title,
  useMantineColorScheme,
} from '@mantine/core'
import { useHash } from '@mantine/hooks'
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { cssVariables, theme } from '../base/theme.ts'
import { type Platform, PlatformContext } from '../platform/platform.ts'
import { cockpitBlocks } from './cockpit-states.tsx'
import type { GalleryBlock, GalleryState } from './frames.tsx'
import styles from './gallery.module.css'
import { liveBlocks, pageBlocks } from './states.tsx'

const blocks: readonly GalleryBlock[] = [...liveBlocks, ...cockpitBlocks, ...pageBlocks]

/** Shows all building blocks in their states, or the one state that the hash of the address names. */
function Gallery() {
  const [hash] = useHash({ getInitialValueInEffect: false })
  const id = hash.slice(1)
  const only = blocks.flatMap(({ states }) => states).find((state) => state.id === id)
  return only ? <State key={only.id} state={only} /> : <All />
}

function All() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Stack component="main" p="lg" gap="lg">
      <Group justify="space-between">
        <div>
          <Title order={1}>Gallery</Title>
          <Text>The building blocks of the console in their states</Text>
        </div>
        <SegmentedControl
          aria-label="Colour scheme"
          data={[
            { value: 'auto', label: 'System' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
          value={colorScheme}
          onChange={(value) => setColorScheme(value as typeof colorScheme)}
        />
      </Group>
      {blocks.map(({ title, use, states }) => (
        <Stack key={title} component="section" aria-label={title} gap="xs">
          <Divider />
          <Title order={2}>{title}</Title>
          <Text>{use}</Text>
          {states.map((state) => (
            <div key={state.id}>
              <Anchor href={`#${state.id}`} size="sm">
                {state.label}
              </Anchor>
              <State state={state} />
            </div>
          ))}
        </Stack>
      ))}
    </Stack>
  )
}

const State = ({ state }: { state: GalleryState }) => (
  <div
    className={styles.state}
    data-gallery-state={state.id}
    data-schemes={(state.schemes ?? ['light', 'dark']).join(' ')}
    data-opens-dialog={state.opensDialog}
    data-ready-text={state.readyText}
  >
    {state.content}
  </div>
)

// A page for developers and tests, apart from the console: no data, no sign-in, and a font that is the same everywhere.

const font = '"Inter Variable"'
const galleryTheme = mergeThemeOverrides(theme, createTheme({ fontFamilyMonospace: font }))

// Links need a router. Its addresses are in memory, so that a link leaves the page unchanged.
const router = createRouter({
  routeTree: createRootRoute({ component: Gallery, notFoundComponent: () => null }),
  history: createMemoryHistory(),
})

// Nothing on this page acts: its states need the platform for what their buttons would do.
const platform = {} as Platform

const root = document.getElementById('root')
if (!root) throw new Error('gallery.html has no #root')
createRoot(root).render(
  <MantineProvider theme={galleryTheme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
    <PlatformContext value={platform}>
      <RouterProvider router={router} />
    </PlatformContext>
  </MantineProvider>,
)
