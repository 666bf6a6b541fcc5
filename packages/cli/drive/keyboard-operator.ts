import { dropTexts } from '@wheelhouse/protocol'
import { ApiError, type DriveCommand, OperatorLink, ticketsOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { type DriveAction, DriveKeys } from './drive-keys.ts'
import { type DriveView, emptyDriveView } from './drive-screen.ts'
import type { SessionClient } from './drive-session-client.ts'

const COMMANDS_PER_SECOND = 20
const HALT: DriveCommand = { linearMps: 0, angularRadps: 0 }
const messageOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

/** Returns the `data` of a control frame for a differential-drive robot. */
const controlData = ({ linearMps, angularRadps }: DriveCommand) => ({
  linear_mps: linearMps,
  angular_radps: angularRadps,
})

/** Drives a robot with the keys of a terminal, and collects the content of the screen. */
export class KeyboardOperator {
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
