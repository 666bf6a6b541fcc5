import { coalesce, singleFlight } from '../../core/concurrency/concurrency.ts'
import type { Bus } from '../../core/events/bus.ts'
import type { MediaReply, MediaRequest, MediaRequestMessage } from '../../core/events/media-topics.ts'
import type { Log } from '../../core/log.ts'
import type { Guard } from '../../core/process/guard.ts'
import { createUnsentGaps, type UnsentGap } from '../../modules/recordings/transport/index.ts'
import type { CameraStore } from '../../modules/video/index.ts'
import type { CameraFigures, MediaSettings, RecordingCounts } from './forwarding/media-messages.ts'
import { createMediaHost, type MediaAnswer, type PeerRequest, replacedOffer } from './media-host.ts'
import { cameraKey, PeerRegistry, type RegisteredPeer } from './peer-registry.ts'
import { createPictureControl } from './pictures/picture-control.ts'
import type { OpenPictures } from './pictures/picture-recorder.ts'
import { createRecordingControl, type RecorderDirectory } from './recording-control.ts'

const RENEW_MS = 2_000
/** How often permissions are checked without a hint. */
const CHECK_MS = 500
/** How often figures are stored. */
const SAVE_MS = 2_000
/** How long the end waits for the gaps of cameras that have reached no recorder. */
const GAPS_MS = 1_000

export interface MediaNodeDeps {
  readonly nodeId: string
  readonly settings: MediaSettings
  readonly store: CameraStore
  readonly recorders: RecorderDirectory
  readonly openPictures: OpenPictures
  /** Stores the gap of a camera that has reached no recorder. */
  readonly addGapOfSession: (sessionId: string, gap: UnsentGap) => Promise<void>
  readonly bus: Bus
  readonly guard: Guard
  readonly log: Log
}

type Request<T extends MediaRequest['type']> = Extract<MediaRequest, { type: T }>

/**
 * Starts the media role of one process: it answers requests of the api, ends peers whose permission has ended, and stores which
 * cameras it forwards.
 */
export async function startMediaNode(deps: MediaNodeDeps) {
  const { nodeId, store, bus, guard, log } = deps
  const peers = new PeerRegistry(nodeId)
  let figures: readonly CameraFigures[] = []
  const counts = { offersRefused: 0, processEnds: 0 }
  let recording: RecordingCounts = { sent: 0, leftOut: 0, reconnects: 0 }
  const unsentGaps = createUnsentGaps({ log, store: deps.addGapOfSession })
  const host = createMediaHost({
    ...deps,
    onUnsent: ({ sessionId, source, ...period }) =>
      void unsentGaps.report({ sessionId, source, stored: true }, period),
    onProcessEnd: () => {
      counts.processEnds++
    },
    onRecording: (counts) => {
      recording = counts
    },
    onFigures: (newest) => {
      const isKnown = publishersOf(newest) === publishersOf(figures)
      figures = newest
      if (!isKnown) saveSoon()
    },
  })

  const control = createRecordingControl({ ...deps, host, publishers: () => peers.publishers })

  const pictures = createPictureControl({ ...deps, unsentGaps })

  async function publish({ robotId, camera, sdp, tokenVersion }: Request<'publish'>): Promise<MediaReply> {
    const resourceId = peers.createResourceId()
    const peer: RegisteredPeer = {
      id: undefined,
      resourceId,
      robotId,
      camera,
      ownerId: robotId,
      tokenVersion,
    }
    return await connect(peer, { type: 'publish', camera: cameraKey(robotId, camera), sdp })
  }

  async function view({
    robotId,
    camera,
    sdp,
    isOperator,
    permissions,
  }: Request<'view'>): Promise<MediaReply> {
    const surplus = peers.surplusOf(permissions.userId, robotId, camera)
    if (surplus) end(surplus)
    if (peers.isFull(robotId, camera)) return refusedViewer
    const ownerId = permissions.sessionId ?? robotId
    const resourceId = peers.createResourceId()
    const peer: RegisteredPeer = { id: undefined, resourceId, robotId, camera, ownerId, permissions }
    return await connect(peer, { type: 'view', camera: cameraKey(robotId, camera), sdp, isOperator })
  }

  /** Connects a peer. It counts from now on, so that many offers at once do not exceed a limit. */
  async function connect(peer: RegisteredPeer, request: PeerRequest): Promise<MediaReply> {
    peers.add(peer)
    const answer = await host.connect(request, () => peers.remove(peer))
    if (!('sdp' in answer)) {
      peers.remove(peer)
      return refused(answer)
    }
    peer.id = answer.id
    if (!peers.has(peer)) {
      host.close(answer.id) // it was ended before its answer
      return request.type === 'publish' ? refused(replacedOffer) : refusedViewer
    }
    checkSoon() // its permission may have ended since the api checked it
    if (request.type === 'publish') control.checkSoon()
    return { resourceId: peer.resourceId, sdp: answer.sdp }
  }

  /** Closes a peer, which no longer counts. */
  function end(peer: RegisteredPeer): void {
    peers.remove(peer)
    if (peer.id !== undefined) host.close(peer.id)
  }

  async function reply(request: MediaRequest): Promise<MediaReply> {
    if (request.type === 'publish') return await publish(request)
    if (request.type === 'view') return await view(request)
    const peer = peers.find(request.resourceId, request.ownerId)
    if (!peer || request.type !== 'close') return { found: peer !== undefined }
    end(peer)
    return { found: true, isLast: !peers.isPublished(peer) }
  }

  async function onRequest(message: MediaRequestMessage): Promise<void> {
    if (message.nodeId !== nodeId) return
    const { replyTo, requestId } = message
    const answer = await reply(message.request)
    if ('refused' in answer) counts.offersRefused++
    bus.publish('media.reply', { replyTo, requestId, reply: answer })
  }

  /** Ends the peers whose permission has ended. */
  const checkPermissions = coalesce(async () => {
    if (peers.size === 0) return
    const { viewers, publishers } = peers
    const [endedViewers, endedPublishers] = await Promise.all([
      viewers.length === 0
        ? []
        : store.endedViewers(viewers.map(({ permissions, robotId }) => ({ ...permissions, robotId }))),
      publishers.length === 0 ? [] : store.endedPublishers(publishers),
    ])
    const ended = [
      ...endedViewers.flatMap((index) => viewers[index] ?? []),
      ...endedPublishers.flatMap((index) => publishers[index] ?? []),
    ]
    for (const peer of ended) end(peer)
  })

  /** Whether the database may have cameras of this node. */
  let isListed = false
  const saveFigures = coalesce(async () => {
    const streams = figures.map(streamOf)
    if (streams.length === 0 && !isListed) return
    isListed = true
    await store.saveStreams(nodeId, streams)
    isListed = streams.length > 0
  })

  const checkSoon = guard.handler('media:permissions', checkPermissions)
  const saveSoon = guard.handler('media:figures', saveFigures)

  const renew = singleFlight(async () => {
    await store.renewNode(nodeId).catch((cause) => {
      log.warn({ err: cause }, 'failed to renew the row of the media role; retrying')
    })
  })

  await renew()
  const unsubscribe = [
    guard.subscribe(bus, 'media.request', onRequest),
    guard.subscribe(bus, 'credential.revoked', checkPermissions),
    guard.subscribe(bus, 'permissions.lost', checkPermissions),
    ...control.subscriptions(),
  ]
  const timers = [
    guard.every('timer:media-renew', RENEW_MS, renew),
    guard.every('timer:media-permissions', CHECK_MS, checkPermissions),
    guard.every('timer:media-figures', SAVE_MS, saveFigures),
    ...control.timers(),
    pictures.timer(),
  ]
  return {
    counts: counts as Readonly<typeof counts>,
    get cameras() {
      return figures.length
    },
    get publishers() {
      return peers.publishers.length
    },
    get viewers() {
      return peers.viewers.length
    },
    /** Records that were sent to recorders, and left out, since the forwarding process started. */
    get recording() {
      return recording
    },
    /** Video that arrives from all cameras. */
    get bitsPerSecond() {
      return figures.reduce((sum, camera) => sum + camera.bitsPerSecond, 0)
    },
    async close(): Promise<void> {
      for (const end of unsubscribe) end()
      for (const timer of timers) clearInterval(timer)
      await Promise.all([host.stop(), pictures.close()])
      await unsentGaps.settled(GAPS_MS)
      figures = []
      // Each of them waits for a running one. Without the database, the row of the node expires.
      await Promise.allSettled([saveFigures(), checkPermissions(), renew()])
      await store.removeNode(nodeId).catch(() => {})
    },
  }
}

const refusedViewer: MediaReply = {
  refused: {
    status: 409,
    code: 'viewer_limit_reached',
    message: 'The camera has as many viewers as it may have. Try again later.',
  },
}

function refused({ code, message }: Exclude<MediaAnswer, { sdp: string }>): MediaReply {
  const status = code === 'offer_rejected' ? 400 : code === 'no_media_server' ? 503 : 409
  return { refused: { status, code, message } }
}

/** Returns which peers publish, to notice a change. */
const publishersOf = (figures: readonly CameraFigures[]): string =>
  figures.map(({ camera, id }) => `${camera} ${id}`).join()

function streamOf({ camera: key, ...figures }: CameraFigures) {
  const [robotId = '', camera = ''] = key.split('/')
  return { ...figures, robotId, camera }
}
