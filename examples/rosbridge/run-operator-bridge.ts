import { ticketsOf } from '@wheelhouse/sdk'
import { bridgeSession } from './session-bridge.ts'

// Serves a session to rosbridge clients: see README.md.

const { API = 'http://localhost:3000', API_KEY, SESSION, HOST, PORT, ALLOWED_ORIGINS } = process.env
if (!API_KEY || !SESSION) throw new Error('Set API_KEY (of the operator) and SESSION (the id of the session)')

let ending = false
const bridge = await bridgeSession({
  getTicket: ticketsOf({ baseUrl: API, token: API_KEY, sessionId: SESSION, part: 'control' }),
  ...(HOST && { host: HOST }),
  ...(PORT && { port: Number(PORT) }),
  ...(ALLOWED_ORIGINS && { allowedOrigins: ALLOWED_ORIGINS.split(',') }),
  onConnection: (state) => console.log('Wheelhouse:', state),
  onError: (cause) => console.error(String(cause)),
  onClosed: ({ reason }) => {
    if (ending) return
    console.log('given up:', reason)
    process.exit(1)
  },
})
console.log(`rosbridge clients: ws://${HOST ?? '127.0.0.1'}:${bridge.port}`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    ending = true
    bridge.close().then(() => process.exit())
  })
}
