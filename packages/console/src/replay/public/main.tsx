import '../../base/mantine.css'
import '../../base/app.css'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { createRestClient } from '@wheelhouse/sdk'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'
import { cssVariables, theme } from '../../base/theme.ts'
import { createQueries } from '../../platform/queries.ts'
import { language } from '../../texts/texts.ts'
import { SharedReplay } from './shared-replay.tsx'

// The page of a link to a recording: without a sign-in, without the pages of the console.

// The content security policy forbids `eval`, which zod otherwise tries first.
z.config({ jitless: true })

const token = decodeURIComponent(location.pathname.split('/').at(-1) ?? '')
const rest = createRestClient({ baseUrl: location.origin })

document.documentElement.lang = language
const root = document.getElementById('root')
if (!root) throw new Error('replay.html has no #root')
createRoot(root).render(
  <MantineProvider
    theme={theme}
    cssVariablesResolver={cssVariables}
    colorSchemeManager={localStorageColorSchemeManager({ key: 'wheelhouse-colour-scheme' })}
    defaultColorScheme="auto"
  >
    <QueryClientProvider client={createQueries()}>
      <SharedReplay rest={rest} token={token} />
    </QueryClientProvider>
  </MantineProvider>,
)
