import './base/mantine.css'
import '@mantine/notifications/styles.css'
import './base/app.css'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { createRestClient } from '@wheelhouse/sdk'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'
import { createConsoleRouter } from './app/router.tsx'
import { useIsDarkPage } from './base/dark-page.ts'
import { cssVariables, theme } from './base/theme.ts'
import { createLive } from './platform/live.ts'
import { PlatformContext } from './platform/platform.ts'
import { createQueries } from './platform/queries.ts'
import { createSessionGuard } from './platform/session-guard.ts'
import { language } from './texts/texts.ts'

// The content security policy forbids `eval`, which zod otherwise tries first.
z.config({ jitless: true })

const session = createSessionGuard({ reload: () => location.reload() })
const rest = createRestClient({ baseUrl: location.origin, fetch: session.fetch })
const queries = createQueries()
const live = createLive({ url: location.origin, session, queries })
const platform = { rest, session, live }
const router = createConsoleRouter()
const colorScheme = localStorageColorSchemeManager({ key: 'wheelhouse-colour-scheme' })

const App = () => (
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

document.documentElement.lang = language
const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
createRoot(root).render(<App />)
