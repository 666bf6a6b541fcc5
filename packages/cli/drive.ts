import {
  type DriveLatency,
  type DriveState,
  dropTexts,
  FULL_SPEED,
  reasonText,
  type SpeedLimits,
  speedLimitText,
} from '@wheelhouse/protocol'
import {
  ApiError,
  answerOf,
  createRestClient,
  type DriveCommand,
  OperatorLink,
  type Schemas,
  ticketsOf,
} from '@wheelhouse/sdk'
import type { Command } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { unlessMissing } from './lib/errors.ts'
import { EXIT, Failure } from './lib/failure.ts'
import { availableRobotId, sessionId } from './lib/ids.ts'
import { canDraw, openKeys, openLiveScreen } from './lib/screen.ts'
import { poseText } from './watch/watch-text.ts'

export const commands = { drive: declareDrive }

/** Declares `wheelhouse drive`: drives a robot from a terminal. */
function declareDrive(command: Command, action: CreateAction): void {
  command
    .argument(
      '[target]',
      'a robot or your session: id, a prefix of the id, or name (default: your open session, or any available robot)',
    )
    .action(action(drive))
}

/** Drives a robot until the user quits or the link ends, then ends the session if this command has started it. */
async function drive(cli: Context, target: string | undefined): Promise<void> {
  const { sessionId, startedHere } = await resolveDriveTarget(cli, target)
  const { out } = cli
  if (out.json) out.entry({ type: 'session', session_id: sessionId, started_here: startedHere })
  else out.line(`session ${sessionId}`)
  const sessionClient = await openSessionClient(cli, sessionId)
  let why = ''
  try {
    why = await driveSession(cli, sessionId, sessionClient)
  } finally {
    sessionClient.close()
    if (startedHere) await endStartedSession(cli, sessionClient, sessionId)
  }
  cli.signal.throwIfAborted()
  if (out.json) out.entry({ type: 'end', reason: why })
  else out.line(why)
}

/** Ends the session that this command has started. */
async function endStartedSession(
  { out }: Context,
  sessionClient: SessionClient,
  sessionId: string,
): Promise<void> {
  try {
    await sessionClient.performAction('end')
  } catch (cause) {
    // Another participant has ended it, or the platform has, because the robot was lost.
    if ((await sessionClient.status().catch(() => undefined)) === 'COMPLETED') return
    const next = `End it with: wheelhouse sessions end ${sessionId}`
    out.notice(`The robot is halted, but the session is still open (${(cause as Error).message}). ${next}`)
    process.exitCode = EXIT.refused
  }
}

async function driveSession(cli: Context, sessionId: string, sessionClient: SessionClient): Promise<string> {
  const operator = new KeyboardOperator(cli, { sessionId, sessionClient, onChange: () => screen?.changed() })
  const screen = canDraw(cli)
    ? openLiveScreen(cli, () =>
        driveScreen(operator.view, sessionId, performance.now()).map((line) => [line]),
      )
    : undefined
  const closeKeys = openKeys(cli.terminal, {
    typed: (text) => operator.typed(text),
    ended: () => operator.leave('end of input'),
  })
  const leave = () => operator.leave('interrupted')
  cli.signal.addEventListener('abort', leave, { once: true })
  try {
    if (cli.signal.aborted) leave()
    return await operator.run()
  } finally {
    cli.signal.removeEventListener('abort', leave)
    closeKeys()
    screen?.close()
  }
}

const COMMANDS_PER_SECOND = 20
const HALT: DriveCommand = { linearMps: 0, angularRadps: 0 }
const messageOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

/** Returns the `data` of a control frame for a differential-drive robot. */
const controlData = ({ linearMps, angularRadps }: DriveCommand) => ({
  linear_mps: linearMps,
  angular_radps: angularRadps,
})

/** Drives a robot with the keys of a terminal, and collects the content of the screen. */
class KeyboardOperator {
  readonly #sessionClient: SessionClient
  readonly #link: OperatorLink
  readonly #keys = new DriveKeys()
  readonly #ended = Promise.withResolvers<string>()
  readonly #onChange: () => void
  #view: DriveView = emptyDriveView
  #timer: NodeJS.Timeout | undefined

  constructor(
    cli: Context,
    options: { sessionId: string; sessionClient: SessionClient; onChange: () => void },
  ) {
    const { sessionId, sessionClient, onChange } = options
    this.#sessionClient = sessionClient
    this.#onChange = onChange
    this.#link = new OperatorLink({
      getTicket: ticketsOf({ baseUrl: cli.server, token: () => cli.token(), sessionId, part: 'control' }),
      onConnection: (connection) => this.#change({ connection }),
      onState: (state) => this.#change({ state }),
      onLatency: (latency) => this.#change({ latency }),
      onLimits: (limits) => this.#change({ limits }),
      onTelemetry: (telemetry) => this.#change({ telemetry, telemetryAtMs: performance.now() }),
      onAck: () => this.#change({ obeyed: this.#view.obeyed + 1 }),
      onDropped: (_seq, why) => this.#change({ dropped: this.#view.dropped + 1, lastDrop: dropTexts[why] }),
      onError: (cause) => this.#note(messageOf(cause)),
      onClosed: ({ reason }) => this.leave(reason),
    })
  }

  get view(): DriveView {
    return this.#view
  }

  /** Drives until `leave` is called or the link ends, then halts the robot. @returns the reason of the end */
  async run(): Promise<string> {
    this.#timer = setInterval(() => this.#steer(), 1_000 / COMMANDS_PER_SECOND)
    this.#link.connect().catch(() => {}) // reported through onClosed
    try {
      return await this.#ended.promise
    } finally {
      clearInterval(this.#timer)
      if (this.#view.state?.status === 'ACTIVE') this.#link.control(controlData(HALT))
      await this.#link.close()
    }
  }

  leave(why: string): void {
    this.#ended.resolve(why)
  }

  typed(text: string): void {
    for (const action of this.#keys.typed(text, performance.now())) this.#perform(action)
  }

  #perform(action: DriveAction): void {
    if (action === 'stop')
      this.#reportResult(this.#link.stop('stopped with the keyboard'), 'the stop is recorded')
    else if (action === 'clear') this.#clear()
    else if (action === 'resume') this.#reportResult(this.#sessionClient.performAction('resume'), 'resumed')
    else if (action === 'quit') this.leave('you quit')
  }

  /** Clears the stop, or asks the owner to clear it if the operator may not. */
  #clear(): void {
    this.#sessionClient.performAction('clear_stop').then(
      () => this.#note('the stop is cleared'),
      (cause: unknown) => {
        if (!(cause instanceof ApiError) || cause.status !== 403) return this.#note(messageOf(cause))
        this.#reportResult(
          this.#sessionClient.performAction('request_clear_stop'),
          'you have asked the owner to clear the stop',
        )
      },
    )
  }

  #steer(): void {
    const command = this.#keys.command(performance.now())
    const { state, sent } = this.#view
    const mayDrive = state?.status === 'ACTIVE' && !state.stop?.latched
    const passed = mayDrive && this.#link.control(controlData(command)) !== null
    this.#change({ command, ...(passed && { sent: sent + 1 }) })
  }

  #reportResult(pending: Promise<unknown>, done: string): void {
    pending.then(
      () => this.#note(done),
      (cause: Error) => this.#note(cause.message),
    )
  }

  #note(note: string): void {
    this.#change({ note })
  }

  #change(part: Partial<DriveView>): void {
    this.#view = { ...this.#view, ...part }
    this.#onChange()
  }
}

type DriveKey = 'forward' | 'back' | 'left' | 'right'
type DriveAction = 'halt' | 'stop' | 'clear' | 'resume' | 'quit'

/** A terminal repeats a held key, the first time after about half a second. */
const FIRST_REPEAT_MS = 600
const NEXT_REPEAT_MS = 150
const LINEAR_MPS = 0.5
const ANGULAR_RADPS = 1.2

const keys: Readonly<Record<string, DriveKey>> = {
  w: 'forward',
  s: 'back',
  a: 'left',
  d: 'right',
  '\u001b[A': 'forward',
  '\u001b[B': 'back',
  '\u001b[D': 'left',
  '\u001b[C': 'right',
}
const actions: Readonly<Record<string, DriveAction>> = {
  ' ': 'halt',
  x: 'stop',
  c: 'clear',
  r: 'resume',
  q: 'quit',
  '\u0003': 'quit',
}
/** An arrow key, or any one character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal sends an escape sequence for an arrow key
const strokes = /\u001b\[[ABCD]|[\s\S]/g

/** Tracks the held keys. A terminal does not report a released key, so a key counts as released after a timeout. */
export class DriveKeys {
  /** Time until which each key counts as held. */
  readonly #held = new Map<DriveKey, number>()

  /** Handles typed text. @returns the actions in it other than driving, in order */
  typed(text: string, nowMs: number): DriveAction[] {
    const requested: DriveAction[] = []
    for (const stroke of text.match(strokes) ?? []) {
      const key = keys[stroke] ?? keys[stroke.toLowerCase()]
      const action = actions[stroke] ?? actions[stroke.toLowerCase()]
      if (key) this.#press(key, nowMs)
      if (action) requested.push(action)
      if (action === 'halt' || action === 'stop') this.#held.clear()
    }
    return requested
  }

  #press(key: DriveKey, nowMs: number): void {
    const untilMs = this.#held.get(key) ?? 0
    // The timeout is longer for the first stroke, because the first repetition arrives later than all others.
    this.#held.set(key, nowMs < untilMs ? nowMs + NEXT_REPEAT_MS : nowMs + FIRST_REPEAT_MS)
    // A new direction replaces the opposite one.
    const opposite = { forward: 'back', back: 'forward', left: 'right', right: 'left' } as const
    this.#held.delete(opposite[key])
  }

  /** Returns the motion that the held keys request. */
  command(nowMs: number): DriveCommand {
    for (const [key, untilMs] of this.#held) if (nowMs >= untilMs) this.#held.delete(key)
    const axis = (plus: DriveKey, minus: DriveKey) =>
      Number(this.#held.has(plus)) - Number(this.#held.has(minus))
    return {
      linearMps: axis('forward', 'back') * LINEAR_MPS,
      angularRadps: axis('left', 'right') * ANGULAR_RADPS,
    }
  }
}

/** Content of the drive screen. */
interface DriveView {
  readonly connection: string
  readonly state: DriveState | null
  readonly latency: DriveLatency | null
  readonly limits: SpeedLimits
  readonly command: DriveCommand
  readonly telemetry: unknown
  /** Arrival time of the telemetry, by a monotonic clock. */
  readonly telemetryAtMs: number
  readonly sent: number
  readonly obeyed: number
  readonly dropped: number
  readonly lastDrop: string
  readonly note: string
}

export const emptyDriveView: DriveView = {
  connection: 'connecting',
  state: null,
  latency: null,
  limits: FULL_SPEED,
  telemetry: null,
  telemetryAtMs: 0,
  command: { linearMps: 0, angularRadps: 0 },
  sent: 0,
  obeyed: 0,
  dropped: 0,
  lastDrop: '',
  note: '',
}

/** Age from which the screen marks a sample as old. */
const STALE_MS = 2_000

/** Returns the lines of the screen, not escaped. They contain the session's id, for commands in another terminal. */
export function driveScreen(view: DriveView, sessionId: string, nowMs: number): string[] {
  const { state, latency, command } = view
  const ms = (value: number | null | undefined) => (value == null ? '–' : `${value.toFixed(1)} ms`)
  return [
    `${view.connection}, session ${state?.status ?? '–'}, robot ${state?.robot_connected ? 'connected' : 'offline'}`,
    `session    ${sessionId}`,
    `stop       ${stopText(state)}`,
    `you        ${command.linearMps.toFixed(2)} m/s, ${command.angularRadps.toFixed(2)} rad/s`,
    `robot      ${robotText(view, nowMs)}`,
    `latency    you ${ms(latency?.operator_ms)}, robot ${ms(latency?.robot_ms)} (round trips)`,
    `limits     ${speedLimitText(view.limits) ?? 'none'}`,
    `commands   ${view.sent} sent, ${view.obeyed} obeyed, ${view.dropped} dropped${view.lastDrop && ` (${view.lastDrop})`}`,
    view.note,
    'arrows or WASD drive (hold or press repeatedly) · space halts · x STOP · c clear, or ask to clear · r resume · q quit',
  ]
}

function robotText({ telemetry, telemetryAtMs }: DriveView, nowMs: number): string {
  const pose =
    typeof telemetry === 'object' && telemetry !== null && 'pose' in telemetry ? telemetry.pose : null
  const ageMs = nowMs - telemetryAtMs
  const age = ageMs > STALE_MS ? `  OLD, ${(ageMs / 1_000).toFixed(1)} s ago` : ''
  return (poseText(pose) ?? '–') + (telemetry === null ? '' : age)
}

function stopText(state: DriveState | null): string {
  if (!state?.stop) return 'none'
  const { reason, latched, recorded, clearable_by: by } = state.stop
  if (!latched) return `${reason} (until you drive)`
  const owners = by === 'owner' ? ' (only the owner or an admin can clear it: c asks them)' : ''
  return `LATCHED: ${reasonText(reason)}${recorded ? '' : ' (not recorded yet)'}${owners}`
}

/** REST requests of a drive session, which also work after Ctrl-C. */
interface SessionClient {
  /** @throws ApiError */
  performAction(action: Schemas['SessionAction']): Promise<void>
  /** @throws ApiError */
  status(): Promise<Schemas['SessionStatus']>
  close(): void
}

const ANSWER_LIMIT_MS = 10_000
const RENEW_MS = 30_000

/**
 * Creates a separate REST client, because Ctrl-C ends the requests of the command and the program must still end the
 * session. Renews the credential periodically.
 */
async function openSessionClient(cli: Context, sessionId: string): Promise<SessionClient> {
  let token = await cli.token()
  const renew = async () => {
    // Without a response, the next interval tries again.
    token = await cli.token().catch(() => token)
  }
  const timer = setInterval(() => void renew(), RENEW_MS)
  const rest = () =>
    createRestClient({
      baseUrl: cli.server,
      token,
      fetch: (request) => fetch(request, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) }),
    })
  const params = { path: { id: sessionId } }
  return {
    performAction: async (action) =>
      void (await answerOf(rest().PATCH('/api/sessions/{id}', { params, body: { action } }))),
    status: async () => (await answerOf(rest().GET('/api/sessions/{id}', { params }))).status,
    close: () => clearInterval(timer),
  }
}

interface DriveTarget {
  readonly sessionId: string
  /** This command has started the session and ends it at exit. */
  readonly startedHere: boolean
}

/**
 * Returns the session to drive: the named session, the open session, or a new one on the named or any available robot.
 * @throws ApiError when the platform refuses; Failure when no robot or session matches
 */
async function resolveDriveTarget(cli: Context, idOrName: string | undefined): Promise<DriveTarget> {
  const targetId = idOrName === undefined ? undefined : await idOf(cli, idOrName)
  if (targetId !== undefined && (await isSession(cli, targetId)))
    return { sessionId: targetId, startedHere: false }
  const { open_session_id: open } = await answerOf(cli.rest.GET('/api/operator/availability'))
  if (open !== null && (targetId === undefined || (await robotOf(cli, open)) === targetId)) {
    return { sessionId: open, startedHere: false }
  }
  const robotId = targetId ?? (await anyRobot(cli))
  const { sessionId } = await answerOf(cli.rest.POST('/api/sessions', { body: { robotId } }))
  return { sessionId, startedHere: true }
}

/** Returns the id of a robot, or else of a session, from an id, a prefix of the id, or a robot's name. */
async function idOf(cli: Context, idOrName: string): Promise<string> {
  try {
    return await availableRobotId(cli, idOrName)
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.outcome !== 'not_found') throw cause
  }
  return sessionId(cli, idOrName).catch((cause) => {
    if (!(cause instanceof Failure) || cause.outcome !== 'not_found') throw cause
    throw new Failure(
      'not_found',
      `No available robot and none of your sessions matches "${idOrName}". See: wheelhouse robots available`,
    )
  })
}

async function isSession(cli: Context, id: string): Promise<boolean> {
  const request = answerOf(cli.rest.GET('/api/sessions/{id}', { params: { path: { id } } }))
  return (await unlessMissing(request)) !== undefined
}

async function robotOf(cli: Context, sessionId: string): Promise<string> {
  const path = { id: sessionId }
  return (await answerOf(cli.rest.GET('/api/sessions/{id}', { params: { path } }))).robot_id
}

async function anyRobot(cli: Context): Promise<string> {
  const { robots } = await answerOf(cli.rest.GET('/api/operator/available-robots'))
  if (robots[0]) return robots[0].id
  const next = 'A robot is available when it is online and you are certified for its type.'
  throw new Failure('not_found', `No robot is available to you now. ${next}`)
}
