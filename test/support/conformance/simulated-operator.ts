import { OperatorLink, ticketsOf } from '../../../packages/sdk/index.ts'

// An operator program on the SDK: drives from the first state on, and stops the robot on SIGUSR2.

const {
  SESSION_ID: sessionId = '',
  WHEELHOUSE_URL: baseUrl = '',
  WHEELHOUSE_API_KEY: token = '',
} = process.env
const link = new OperatorLink({
  getTicket: ticketsOf({ baseUrl, token, sessionId, part: 'control' }),
  PeerConnection: null,
  onClosed: ({ reason }) => {
    console.error(reason)
    process.exit(1)
  },
})
process.on('SIGUSR2', () => void link.stop('the program was told to'))
setInterval(() => {
  const mayDrive = link.state?.status === 'ACTIVE' && !link.state.stop?.latched && link.lease?.you !== false
  if (mayDrive) link.control({ linear_mps: 0.4, angular_radps: 0 }, { ttlMs: 250 })
}, 40)
await link.connect()
