import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useIsDarkPage } from '../base/dark-page.ts'
import { cssVariables, theme } from '../base/theme.ts'
import { type Platform, PlatformContext } from '../platform/platform.ts'
import type { createConsoleRouter } from './router.tsx'

const colorScheme = localStorageColorSchemeManager({ key: 'wheelhouse-colour-scheme' })

interface Props {
  readonly platform: Platform
  readonly queries: QueryClient
  readonly router: ReturnType<typeof createConsoleRouter>
}

export const App = ({ platform, queries, router }: Props) => (
  <MantineProvider
    theme={theme}
    cssVariablesResolver={cssVariables}
    colorSchemeManager={colorScheme}
    defaultColorScheme="auto"
    {...(useIsDarkPage() && { forceColorScheme: 'dark' })}
  >
    <QueryClientProvider client={queries}>
      <PlatformContext value={platform}>
        <Notifications position="bottom-right" limit={3} />
        <RouterProvider router={router} />
      </PlatformContext>
    </QueryClientProvider>
  </MantineProvider>
)
