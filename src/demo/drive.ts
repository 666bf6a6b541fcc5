import { OperatorLink, ticketsOf } from '@wheelhouse/sdk'
import { z } from 'zod'
import { type DriveAct, DriveKeys } from './drive-keys.ts'
import { type DriveView, screen } from './drive-screen.ts'
import { ask, type Driver, SetupError, setUp } from './drive-setup.ts'

// `npm run drive`: an operator at a terminal.

const COMMANDS_PER_SECOND = 20
const FRAMES_PER_SECOND = 10

/** Drives until the user quits or the link ends; answers why it ended. */
async function drive(driver: Driver): Promise<string> {
  const ended = Promise.withResolvers<string>()
  const keys = new DriveKeys()
  let view: DriveView = {
    ...{ connection: 'connecting', state: null, latency: null, telemetry: null, note: '', lastDrop: '' },
    ...{ command: { linear_mps: 0, angular_radps: 0 }, sent: 0, obeyed: 0, dropped: 0 },
  }
  const change = (part: Partial<DriveView>) => {
    view = { ...view, ...part }
  }
  const link = new OperatorLink({
    getTicket: ticketsOf({
      baseUrl: driver.api,
      token: driver.key,
      sessionId: driver.sessionId,
      part: 'control',
    }),
    onConnection: (connection) => change({ connection }),
    onState: (state) => change({ state }),
    onLatency: (latency) => change({ latency }),
    onTelemetry: (telemetry) => change({ telemetry }),
    onAck: () => change({ obeyed: view.obeyed + 1 }),
    onDropped: (_seq, why) => change({ dropped: view.dropped + 1, lastDrop: why }),
    onError: (cause) => change({ note: cause instanceof Error ? cause.message : String(cause) }),
    onClosed: ({ reason }) => ended.resolve(reason),
  })

  const act = (action: string) =>
    ask(driver, z.unknown(), `/api/sessions/${driver.sessionId}`, { method: 'PATCH', json: { action } }).then(
      () => change({ note: `${action}: done` }),
      (cause: Error) => change({ note: cause.message }),
    )
  const does: Record<DriveAct, () => void> = {
    stand: () => {},
    stop: () =>
      void link.stop('stopped at the keyboard').then(
        () => change({ note: 'the stop is recorded' }),
        (cause: Error) => change({ note: cause.message }),
      ),
    clear: () => void act('clear_stop'),
    resume: () => void act('resume'),
    quit: () => ended.resolve('you quit'),
  }
  process.stdin.on('data', (typed: Buffer) => {
    for (const asked of keys.typed(typed.toString(), performance.now())) does[asked]()
  })
  process.stdin.on('end', () => ended.resolve('end of input'))

  link.connect().catch(() => {}) // onClosed tells
  const timers = [
    setInterval(() => {
      const command = keys.command(performance.now())
      change({ command })
      if (view.state?.status !== 'ACTIVE' || view.state.stop?.latched) return
      if (link.control(command) !== null) change({ sent: view.sent + 1 })
    }, 1_000 / COMMANDS_PER_SECOND),
    setInterval(() => draw(view), 1_000 / FRAMES_PER_SECOND),
  ]
  const why = await ended.promise
  for (const timer of timers) clearInterval(timer)
  await link.close()
  if (driver.startedHere) await act('end')
  draw(view)
  return why
}

let drawn = 0
function draw(view: DriveView): void {
  if (!process.stdout.isTTY) return
  const lines = screen(view)
  const up = drawn > 0 ? `\u001b[${drawn}A` : ''
  process.stdout.write(`${up}${lines.map((line) => `\u001b[2K${line}\n`).join('')}`)
  drawn = lines.length
}

/** Reads keys one by one where there is a terminal, and from a pipe as they come. */
async function main(): Promise<void> {
  const driver = await setUp(process.argv.slice(2))
  process.stdout.write(`session ${driver.sessionId}\n`)
  if (process.stdin.isTTY) process.stdin.setRawMode(true)
  process.stdin.resume()
  try {
    process.stdout.write(`${await drive(driver)}\n`)
  } finally {
    if (process.stdin.isTTY) process.stdin.setRawMode(false)
    process.stdin.pause()
  }
}

try {
  await main()
} catch (cause) {
  if (!(cause instanceof SetupError)) throw cause
  process.stderr.write(`${cause.message}\n`)
  process.exitCode = 1
}
