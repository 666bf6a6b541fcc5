import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../core/log.ts'
import { type ChildLink, startChild } from '../../core/process/child-link.ts'
import type { Guard } from '../../core/process/guard.ts'
import {
  type CameraFigures,
  type CameraKey,
  type FromMediaProcess,
  type MediaSettings,
  REPLACED,
  type RecorderAccess,
  type RecordingCounts,
  type RecordingTarget,
  type RefusalCode,
  type ToMediaProcess,
} from './forwarding/media-messages.ts'

/** After the forwarding process could not open its port, the next offer may start it again after this time. */
const RETRY_MS = 5_000
/** A process that ran for less is not started again before the next offer. */
const STABLE_MS = 5_000
/** Peers of one node. Each one needs about 0.5 MB. */
const MAX_PEERS = 2_000
/** How long the forwarding process may take to answer an offer. */
const ANSWER_LIMIT_MS = 5_000
/** Time for the process to send what is recorded at its end. */
const END_MS = 3_000

/** The answer to an offer, or why there is none. */
export type MediaAnswer =
  | { readonly id: number; readonly sdp: string }
  | { readonly code: RefusalCode | 'offer_replaced' | 'no_media_server'; readonly message: string }

/** An offer to publish or to view a camera. */
export type PeerRequest =
  | { readonly type: 'publish'; readonly camera: CameraKey; readonly sdp: string }
  | { readonly type: 'view'; readonly camera: CameraKey; readonly sdp: string; readonly isOperator: boolean }

interface HostedPeer {
  readonly onClosed: (reason: string) => void
  /** Resolves the request; undefined once it has an answer. */
  answer: ((answer: MediaAnswer) => void) | undefined
}

/** The answer to an offer after which a newer one has come. */
export const replacedOffer: Exclude<MediaAnswer, { sdp: string }> = {
  code: 'offer_replaced',
  message: 'A newer offer of the same camera has replaced this one.',
}
const unavailable = (message: string): MediaAnswer => ({ message, code: 'no_media_server' })

/**
 * Creates the forwarding of one node. The WebRTC library runs in a process, which the first offer starts: a crash of it ends the
 * peers, which connect again to the next process.
 */
export function createMediaHost(deps: {
  settings: MediaSettings
  guard: Guard
  log: Log
  onFigures: (figures: readonly CameraFigures[]) => void
  onRecording: (counts: RecordingCounts) => void
  /** Called for the stream of a camera that has reached no recorder, also while the process ends. */
  onUnsent: (gap: Extract<FromMediaProcess, { type: 'unsent' }>) => void
  /** Called when the process has ended by itself. */
  onProcessEnd: () => void
}) {
  const { settings, guard, log, onFigures, onRecording, onProcessEnd } = deps
  const peers = new Map<number, HostedPeer>()
  const recorded = new Map<CameraKey, RecordingTarget>()
  /** Whether the process has recorded a camera. */
  let hasRecorded = false
  let access: RecorderAccess | undefined
  let child: ChildLink<ToMediaProcess> | undefined
  let retryAtMs = 0
  let startedAtMs = 0
  let lastId = 0
  let stopped = false
  const expire = guard.timer('media:answer-limit', (id: number) => {
    close(id)
    refuse(id, unavailable('The media server did not answer in time. Try again.'))
  })

  function start(): ChildLink<ToMediaProcess> | undefined {
    if (stopped || performance.now() < retryAtMs) return undefined
    startedAtMs = performance.now()
    const started = startChild<ToMediaProcess, FromMediaProcess>({
      program: new URL('./forwarding/media-process.ts', import.meta.url),
      settings,
      name: 'media',
      guard,
      onMessage,
      onEnd: (reason) => ended(started, reason),
    })
    child = started
    if (access) post({ ...access, type: 'recorders' })
    hasRecorded = recorded.size > 0
    for (const [camera, target] of recorded) post({ ...target, type: 'record', camera })
    return started
  }

  function ended(link: ChildLink<ToMediaProcess>, reason: string): void {
    if (child !== link) return
    child = undefined
    if (stopped) return
    onProcessEnd()
    log.warn({ reason }, 'the process that forwards video has ended; its peers connect again')
    // Its peers are about to connect again. A process that ends at once would be started in a loop.
    if (peers.size > 0 && performance.now() - startedAtMs > STABLE_MS) child = start()
    for (const id of [...peers.keys()]) closed(id, 'the media process ended')
    onFigures([])
  }

  function closed(id: number, reason: string): void {
    const peer = peers.get(id)
    peers.delete(id)
    if (!peer) return
    if (peer.answer)
      peer.answer(
        reason === REPLACED ? replacedOffer : unavailable('The media server is starting. Try again.'),
      )
    else peer.onClosed(reason)
  }

  /** Ends a request without a peer. */
  function refuse(id: number, refusal: MediaAnswer): void {
    const peer = peers.get(id)
    peers.delete(id)
    peer?.answer?.(refusal)
  }

  function answered(id: number, sdp: string): void {
    const peer = peers.get(id)
    peer?.answer?.({ id, sdp })
    if (peer) peer.answer = undefined
  }

  function onMessage(message: FromMediaProcess): void {
    if (message.type === 'unsent') return deps.onUnsent(message)
    if (stopped) return
    if (message.type === 'figures') onFigures(message.cameras)
    else if (message.type === 'recording') onRecording(message.counts)
    else if (message.type === 'answer') answered(message.id, message.sdp)
    else if (message.type === 'refused') refuse(message.id, { code: message.code, message: message.message })
    else if (message.type === 'closed') closed(message.id, message.reason)
    else {
      retryAtMs = performance.now() + RETRY_MS
      log.warn(
        { port: settings.port, relayPort: settings.relayPort, reason: message.message },
        'cannot open a UDP port of the video: stop the other program that uses it, or set MEDIA_UDP_PORT or MEDIA_RELAY_PORT',
      )
    }
  }

  function post(message: ToMediaProcess): void {
    child?.send(message) // the end of the process closes all peers
  }

  function close(id: number): void {
    post({ type: 'close', id })
  }

  return {
    /** Connects a peer. `onClosed` is called once, when a peer that got an answer is gone. */
    async connect(request: PeerRequest, onClosed: (reason: string) => void): Promise<MediaAnswer> {
      if (peers.size >= MAX_PEERS) return unavailable('The media server has too many peers. Try again later.')
      child ??= start()
      if (!child) return unavailable('The media server cannot open its UDP port. Try again later.')
      const id = ++lastId
      const { promise, resolve } = Promise.withResolvers<MediaAnswer>()
      peers.set(id, { onClosed, answer: resolve })
      const timer = expire(ANSWER_LIMIT_MS, id)
      post({ ...request, id })
      const answer = await promise
      clearTimeout(timer)
      return answer
    },

    /** Closes a peer. Its `onClosed` is called once the process has done it. */
    close,

    /** Sets the recorders that are running. */
    setRecorders(newest: RecorderAccess): void {
      access = newest
      post({ ...newest, type: 'recorders' })
    },

    /** Begins to record a camera, or goes on in another way. A process that starts later does it, too. */
    record(camera: CameraKey, target: RecordingTarget): void {
      recorded.set(camera, target)
      hasRecorded = true
      post({ ...target, type: 'record', camera })
    },

    endSample(camera: CameraKey): void {
      if (recorded.delete(camera)) post({ type: 'end_record', camera })
    },

    /** Ends the process, which sends what is recorded before, also of cameras that are not recorded any more. */
    async stop(): Promise<void> {
      stopped = true
      const ending = child?.process
      if (hasRecorded && ending?.connected) {
        // All its messages have arrived when its channel has ended, which may be after its exit.
        const exited = Promise.all([once(ending, 'exit'), once(ending, 'disconnect')])
        post({ type: 'end' })
        await Promise.race([exited, delay(END_MS, undefined, { ref: false })])
      }
      ending?.kill('SIGKILL')
    },
  }
}
