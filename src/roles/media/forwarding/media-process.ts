import { createLog } from '../../../core/log.ts'
import { connectToParent } from '../../../core/process/child-link.ts'
import { createGuard } from '../../../core/process/guard.ts'
import type { UnsentGap } from '../../../modules/recordings/transport/index.ts'
import type { CameraRecordings } from './camera-recordings.ts'
import { Cameras } from './cameras.ts'
import type { FromMediaProcess, MediaSettings, ToMediaProcess } from './media-messages.ts'
import { openUdpSocket, RelayDoor } from './relay-door.ts'

// The forwarding process: it has the WebRTC connections of one media role. A separate process, because the library ends its process
// with an abort when it is used wrongly, and because forwarding must not delay anything else. `createMediaHost` starts it.

/** How often lost packets are requested. */
const MISSING_MS = 20
/** How often peers get reports. The bitrate changes with them. */
const REPORT_MS = 500
/** How often publishers get at least a short one: without any for a second, they connect again. */
const ACKNOWLEDGE_MS = 250
const FIGURES_MS = 500

const settings: MediaSettings = JSON.parse(process.argv[2] ?? '{}')
const log = createLog({ level: 'warn', pretty: process.stdout.isTTY === true })
const guard = createGuard({ role: 'media-forwarding', log, count: () => {} })

/**
 * Returns the UDP port to use, of which port 0 becomes a free one, and the door for relayed browsers.
 * @throws if a port is in use: the library would not report it.
 */
async function openPorts({ bindAddress, port: wanted, relayPort }: MediaSettings) {
  const socket = await openUdpSocket({ bindAddress, port: wanted })
  const { port } = socket.address()
  // The door is for IPv4: TURN servers relay to the addresses of the answer with it.
  const hasDoor = relayPort !== undefined && !bindAddress?.includes(':')
  const door = hasDoor ? await openUdpSocket({ bindAddress, port: relayPort }) : undefined
  socket.close()
  const relayDoor = door && new RelayDoor(door, { port, address: bindAddress ?? '127.0.0.1' }, guard)
  return { port, relayDoor }
}

const { port, relayDoor } = await openPorts(settings).catch(async (cause: unknown) => {
  process.send?.({ type: 'failed', message: String(cause) } satisfies FromMediaProcess, () => process.exit(1))
  return await new Promise<never>(() => {}) // the callback ends the process
})
const postToParent = connectToParent<FromMediaProcess, ToMediaProcess>({ name: 'media', guard, onMessage })
const nowMs = () => performance.timeOrigin + performance.now()
const environment = { settings: { ...settings, port }, relayDoor, guard, log, nowMs }
const cameras = new Cameras(environment, post)

function onMessage(message: ToMediaProcess): unknown {
  if (message.type === 'publish') cameras.publish(message)
  else if (message.type === 'view') cameras.view(message)
  else if (message.type === 'close') cameras.close(message.id)
  else return loadRecordings().then((loaded) => loaded.handle(message))
  return undefined
}

/** Loads what records cameras with the first message about it: without, the process starts faster. */
let recordings: CameraRecordings | undefined
let loading: Promise<CameraRecordings> | undefined
function loadRecordings(): Promise<CameraRecordings> {
  loading ??= import('./camera-recordings.ts').then((module) => {
    recordings = new module.CameraRecordings(environment, cameras, postUnsent)
    return recordings
  })
  return loading
}

guard.every('media:missing', MISSING_MS, () => cameras.requestMissing())
guard.every('media:report', REPORT_MS, () => cameras.report())
guard.every('media:acknowledge', ACKNOWLEDGE_MS, () => cameras.acknowledge())
guard.every('media:figures', FIGURES_MS, () => {
  cameras.postFigures()
  if (recordings) post({ type: 'recording', counts: recordings.counts })
})

/** Sends the gap of a stream to the media role, and settles when it is on its way: the process may be about to end. */
async function postUnsent(sessionId: string, gap: UnsentGap): Promise<void> {
  if (!process.connected) throw new Error('the media role has ended')
  const { promise, resolve } = Promise.withResolvers<void>()
  process.send?.({ type: 'unsent', sessionId, ...gap } satisfies FromMediaProcess, () => resolve())
  await promise
}

/** Sends a message to the media role. While it does not keep up, figures are dropped. */
function post(message: FromMediaProcess): void {
  postToParent(message, { mayDrop: message.type === 'figures' || message.type === 'recording' })
}
