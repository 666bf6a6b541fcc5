import './base/mantine.css'
import '@mantine/notifications/styles.css'
import './base/app.css'
import { createRestClient } from '@wheelhouse/sdk'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'
import { App } from './app/app.tsx'
import { createConsoleRouter } from './app/router.tsx'
import { createLive } from './platform/live.ts'
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

document.documentElement.lang = language
const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
createRoot(root).render(<App platform={platform} queries={queries} router={createConsoleRouter()} />)
