import type { DriveState, LeaseFrame, ToDriverFrame } from '@wheelhouse/protocol'
import { ApiError } from './errors.ts'
import { type ControlOptions, type GoalOptions, type GoalTarget, OperatorLink } from './operator-link.ts'
import { answerOf, createRestClient, type RestClient, type Schemas } from './rest-client.ts'
import type { OperatorLinkOptions } from './session-link-options.ts'
import { type TicketsOfOptions, ticketsOf } from './tickets.ts'

/** Options and callbacks of a `PolicyLink`. */
export interface PolicyLinkOptions
  extends Omit<OperatorLinkOptions, 'getTicket'>,
    Omit<TicketsOfOptions, 'part'> {
  /** Sends commands also while it does not hold control. The robot gets none of them; recordings and datasets have them. Default false. */
  readonly shadow?: boolean
  /** How often to look for offers of control to this program, in milliseconds; 0 to accept none. Default 2,000. */
  readonly offerPollMs?: number
  /**
   * Called when it gets control. `last` has the newest command and telemetry of the robot, so that the policy continues from there. The
   * robot stands, and moves with the next command.
   */
  readonly onHold?: (lease: Pick<LeaseFrame, 'epoch' | 'holder' | 'last'>) => void
  /** Called when it no longer has control. */
  readonly onYield?: (lease: Pick<LeaseFrame, 'epoch' | 'holder'>) => void
}

const OFFER_POLL_MS = 2_000

/**
 * Drives the robot of a session as a policy: an `OperatorLink` that sends commands only while it holds control. Use the key of a service
 * account with the scopes `read` and `drive`. People take control from it at any time.
 */
export class PolicyLink extends OperatorLink {
  readonly #options: PolicyLinkOptions
  readonly #rest: RestClient
  #userId: string | undefined
  /** The newest epoch that this program knows; 0 before the first one. */
  #epoch = 0
  #holds = false
  #pollTimer: ReturnType<typeof setTimeout> | undefined

  /** @throws RangeError if `minRateHz` is not above 0 */
  constructor(options: PolicyLinkOptions) {
    const { baseUrl, token, sessionId, onDropped } = options
    super({
      ...options,
      getTicket: ticketsOf({ baseUrl, token, sessionId, part: 'control' }),
      onDropped: (seq, why) => {
        // That nobody obeys its shadow is no news.
        if (why !== 'not_holder' || !options.shadow) onDropped?.(seq, why)
      },
    })
    this.#options = options
    this.#rest = createRestClient({ baseUrl, token })
  }

  /** Whether it holds control. */
  get holds(): boolean {
    return this.#holds
  }

  /** Connects as every link, and accepts offers of control from then on. */
  override async connect(): Promise<DriveState> {
    const state = await super.connect()
    await this.#look()
    return state
  }

  override close(): Promise<void> {
    clearTimeout(this.#pollTimer)
    return super.close()
  }

  /**
   * Asks who holds control for it. The request waits for a minute; `onHold` tells that it was granted.
   * @throws ApiError for a refusal, as when it holds control already (`control_held`)
   */
  async requestControl(reason?: string): Promise<Schemas['ControlLease']> {
    return await this.#act({ action: 'request', ...(reason !== undefined && { reason }) })
  }

  /**
   * Gives control back to who had it before, or to the operator of the session.
   * @throws ApiError for a refusal, as when it does not hold control (`control_not_allowed`)
   */
  async returnControl(): Promise<Schemas['ControlLease']> {
    return await this.#act({ action: 'return' })
  }

  /** Sends a command as an `OperatorLink`. Returns null also while it does not hold control, unless it is a shadow. */
  override control(data: unknown, options?: ControlOptions): number | null {
    return this.#holds || this.#options.shadow ? super.control(data, options) : null
  }

  override controlBinary(payload: Uint8Array, options?: ControlOptions): number | null {
    return this.#holds || this.#options.shadow ? super.controlBinary(payload, options) : null
  }

  /** Sends a goal as an `OperatorLink`. Returns null also while it does not hold control. */
  override goal(target: GoalTarget, options?: GoalOptions): { seq: number; goalId: string } | null {
    return this.#holds ? super.goal(target, options) : null
  }

  /** @internal */
  protected override handle(frame: ToDriverFrame): void {
    super.handle(frame)
    if (frame.type === 'lease') this.#apply(frame, frame.you === true)
  }

  #apply(lease: Pick<LeaseFrame, 'epoch' | 'holder' | 'last'>, holds: boolean): void {
    if (lease.epoch < this.#epoch) return
    this.#epoch = lease.epoch
    if (holds === this.#holds) return
    this.#holds = holds
    this.lifecycle.runCallback(() => (holds ? this.#options.onHold : this.#options.onYield)?.(lease))
  }

  async #act(body: {
    readonly action: 'request' | 'return' | 'accept'
    readonly requestId?: string
    readonly reason?: string
  }): Promise<Schemas['ControlLease']> {
    const params = { path: { id: this.#options.sessionId } }
    return await answerOf(this.#rest.POST('/api/sessions/{id}/control', { params, body }))
  }

  /** Looks who holds control, which no frame says while it never changed hands, and for an offer; and again later. */
  async #look(): Promise<void> {
    const { sessionId, offerPollMs = OFFER_POLL_MS } = this.#options
    try {
      this.#userId ??= (await answerOf(this.#rest.GET('/api/auth/profile'))).id
      const params = { path: { id: sessionId } }
      const lease = await answerOf(this.#rest.GET('/api/sessions/{id}/control', { params }))
      if (this.#epoch === 0) this.#apply(lease, lease.holder?.user_id === this.#userId)
      const offer = lease.requests.find(({ kind, to }) => kind === 'offer' && to === this.#userId)
      if (offer && offerPollMs > 0) await this.#act({ action: 'accept', requestId: offer.id })
    } catch (cause) {
      // A conflict: somebody was faster.
      if (!(cause instanceof ApiError && cause.status === 409)) this.lifecycle.report(cause)
    }
    if (offerPollMs > 0 && this.connection !== 'closed')
      this.#pollTimer = setTimeout(() => void this.#look(), offerPollMs)
  }
}
