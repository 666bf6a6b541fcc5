import { setTimeout as delay } from 'node:timers/promises'
import { Backoff } from '@wheelhouse/sdk'
import pTimeout from 'p-timeout'
import { type HubAddress, HubSocket } from './hub-socket.ts'

/** `as the sdk`: after the SDK's backoff with jitter. `at once`: the first attempt follows immediately. */
export type ReconnectMode = 'at once' | 'as the sdk'

/** An observer of one session. */
export interface Observer {
  readonly token: string
  readonly sessionId: string
}

/** How clients reconnect, and how much of the log they miss. */
export interface Return {
  readonly addresses: readonly Omit<HubAddress, 'auth'>[]
  readonly mode: ReconnectMode
  readonly behind: number
}

export interface ReturnReport {
  /** Milliseconds from the first disconnection until each client was accepted, and until each had its whole log. */
  readonly connectedMs: readonly number[]
  readonly completeMs: readonly number[]
  readonly attempts: number
  /** Refusals and failures, by their text. */
  readonly refusals: Readonly<Record<string, number>>
  /** Answers with a missing, duplicate or misplaced entry. */
  readonly wrong: number
}

interface WatchAnswer {
  readonly ok?: boolean
  readonly error?: string
  readonly events?: readonly { readonly seq: number }[]
  readonly head?: number
}

const ATTEMPT_LIMIT_MS = 10_000

/** Creates clients of a hub that reconnect by themselves after a disconnection. */
export function createReturning() {
  const members: Member[] = []
  let way: Return = { addresses: [], mode: 'at once', behind: 0 }
  let cutMs = Number.NaN
  let report = emptyReport()

  class Member {
    private readonly observer: Observer
    private socket: HubSocket | undefined
    private backoff = new Backoff()
    private head = 0
    private attempt = 0

    constructor(observer: Observer) {
      this.observer = observer
    }

    /** Connects and reads the log; settles when it is complete. */
    async arrive(after: number): Promise<void> {
      const address = way.addresses[this.attempt++ % way.addresses.length] as HubAddress
      report.attempts++
      const socket = await withLimit(
        HubSocket.connect(
          { ...address, auth: { token: this.observer.token } },
          { event() {}, closed: () => this.lost() },
        ),
      )
      this.socket = socket
      report.connectedMs.push(performance.now() - cutMs)
      for (let last = after; ; ) {
        const question = { session_id: this.observer.sessionId, after: last }
        const answer = (await socket.ask('session:watch', question)) as WatchAnswer | undefined
        if (answer?.ok !== true) {
          socket.destroy()
          throw new Error(answer?.error ?? 'disconnected before the answer')
        }
        const events = answer.events ?? []
        if (events.some(({ seq }, index) => seq !== last + 1 + index)) report.wrong++
        last = events.at(-1)?.seq ?? last
        this.head = answer.head ?? 0
        if (last === this.head) break
        if (events.length === 0) {
          report.wrong++
          break
        }
      }
      report.completeMs.push(performance.now() - cutMs)
    }

    cut(): void {
      this.socket?.destroy()
      this.lost()
    }

    leave(): void {
      this.socket?.destroy()
    }

    private lost(): void {
      if (Number.isNaN(cutMs)) cutMs = performance.now()
      this.backoff.reset()
      void this.comeBack()
    }

    private async comeBack(): Promise<void> {
      for (let tries = 0; ; tries++) {
        if (way.mode === 'as the sdk' || tries > 0) await delay(this.backoff.nextDelayMs())
        try {
          return await this.arrive(this.head - way.behind)
        } catch (cause) {
          const why = cause instanceof Error ? cause.message : String(cause)
          report.refusals[why] = (report.refusals[why] ?? 0) + 1
        }
      }
    }
  }

  return {
    /** Connects this many at a time; each reads its whole log. */
    async connectAll(
      observers: readonly Observer[],
      addresses: Return['addresses'],
      atATime: number,
    ): Promise<void> {
      way = { ...way, addresses }
      const queue = observers.values()
      const channel = async () => {
        for (const observer of queue) {
          const member = new Member(observer)
          await member.arrive(0)
          members.push(member)
        }
      }
      await Promise.all(Array.from({ length: atATime }, channel))
    },
    /** Sets how clients reconnect from now on. */
    prepare(next: Return): void {
      way = next
      cutMs = Number.NaN
      report = emptyReport()
    },
    /** Disconnects all clients. */
    cutAll(): void {
      for (const member of members) member.cut()
    },
    complete: () => report.completeMs.length,
    report: (): ReturnReport => report,
    /** Closes all clients permanently. */
    leave(): void {
      for (const member of members.splice(0)) member.leave()
    },
  }
}

const emptyReport = () => ({
  connectedMs: [] as number[],
  completeMs: [] as number[],
  attempts: 0,
  refusals: {} as Record<string, number>,
  wrong: 0,
})

/** Fails a connection that is not accepted in time; closes it if it is accepted later. */
function withLimit(connecting: Promise<HubSocket>): Promise<HubSocket> {
  return pTimeout(connecting, {
    milliseconds: ATTEMPT_LIMIT_MS,
    fallback: () => {
      connecting.then(
        (late) => late.destroy(),
        () => {},
      )
      throw new Error('not accepted in time')
    },
  })
}
