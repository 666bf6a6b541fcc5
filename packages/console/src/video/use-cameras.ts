import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { useEffect, useMemo, useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import type { VideoSource, VideoWatch } from './watch-video.ts'
import { createWhepPlayer, type WhepOptions } from './whep.ts'

type CameraList = Schemas['CameraList']
type Camera = CameraList['cameras'][number]

/** Cameras begin and end at the robot, without an event. */
const REFRESH_MS = 2_000

/** Waits between attempts are short: a restarted media server must not leave an operator without a picture. */
const [MIN_BACKOFF_MS, MAX_BACKOFF_MS] = [250, 1_000]
/** A camera of the platform that sends nothing for this time is opened again. */
const SILENT_LIMIT_MS = 1_500

interface ShownCamera {
  readonly name: string
  readonly label: string
  /** Stable while the camera stays the same. */
  readonly source: VideoSource | string
}

type ListedCamera = Pick<Camera, 'name' | 'label' | 'whep_url' | 'stream_url' | 'live' | 'audio'>

/** The cameras of a robot, and which one is the large picture. */
export type Cameras = ReturnType<typeof useCameras>

/** Returns the cameras of a session: for its operator with a ticket to control, for others with one to watch. */
export function useSessionCameras(
  session: { readonly id: string; readonly stream_url: string | null },
  part: 'control' | 'watch',
): Cameras {
  const { rest } = usePlatform()
  const { id } = session
  const { data } = useRead(
    [...keys.cameras, 'session', id], // not below the sessions: a log entry does not change cameras
    (rest, { signal }) => rest.GET('/api/sessions/{id}/cameras', { params: { path: { id } }, signal }),
    { refetchInterval: REFRESH_MS },
  )
  const getToken = useMemo(() => () => ticketFor(rest, id, part), [rest, id, part])
  return useCameras(data, session.stream_url ?? '', getToken, part === 'control')
}

/** Returns the cameras of a robot for its owner, whose cookie is the credential. */
export function useRobotCameras(robot: { readonly id: string; readonly stream_url: string }): Cameras {
  const { id } = robot
  const { data } = useRead(
    [...keys.cameras, 'robot', id],
    (rest, { signal }) => rest.GET('/api/client/robots/{id}/cameras', { params: { path: { id } }, signal }),
    { refetchInterval: REFRESH_MS },
  )
  return useCameras(data, robot.stream_url, undefined)
}

/** Returns a camera that a robot publishes, for its owner. */
export const publishedCamera = (robotId: string, camera: string): VideoSource =>
  publishedSource(`/api/client/robots/${robotId}/whep/${camera}`, {})

const publishedSource = (url: string, options: WhepOptions): VideoSource => ({
  url,
  player: createWhepPlayer({ ...options, silentLimitMs: SILENT_LIMIT_MS }),
  minBackoffMs: MIN_BACKOFF_MS,
  maxBackoffMs: MAX_BACKOFF_MS,
})

function useCameras(
  list: CameraList | undefined,
  streamUrl: string,
  getToken: (() => Promise<string>) | undefined,
  canSpeak = false,
) {
  const [chosen, choose] = useState<string>()
  const cameras: readonly ListedCamera[] = list?.cameras ?? initialCameras(streamUrl)
  // As text: a refetch returns new objects, which must not interrupt the video.
  const key = JSON.stringify(
    cameras.map(({ name, label, whep_url, stream_url }) => [name, label, whep_url, stream_url]),
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` contains what is used of the list; its credentials are renewed with it
  const shown = useMemo(
    () => cameras.map((camera) => shownCamera(camera, list?.ice_servers, getToken, canSpeak)),
    [key, getToken, canSpeak],
  )
  const isLive = ({ name }: ShownCamera) => cameras.some((camera) => camera.name === name && camera.live)
  const main = shown.find(({ name }) => name === chosen) ?? shown.find(isLive) ?? shown[0]
  // A camera that stops remains the picture, whose age then halts the robot.
  const firstLive = main && isLive(main) ? main.name : undefined
  const isListed = list !== undefined
  useEffect(() => {
    if (isListed && chosen === undefined && firstLive !== undefined) choose(firstLive)
  }, [isListed, chosen, firstLive])
  const isPublished = ({ name }: ShownCamera) =>
    cameras.some((camera) => camera.name === name && camera.whep_url !== null)
  // The address of a robot that publishes cameras usually is one of them.
  const live = shown.filter(isLive).filter((camera, _, all) => isPublished(camera) || !all.some(isPublished))
  return {
    /** The live cameras that are not the large picture. */
    others: live.filter(({ name }) => name !== main?.name),
    /** The first camera that is live, then it remains. Undefined for a robot without cameras. */
    main,
    /** The names of the cameras that send sound; as text, separated by commas. */
    sounding: cameras
      .filter(({ audio }) => audio)
      .map(({ name }) => name)
      .join(','),
    choose: (name: string) => choose(name),
    next: () => choose(live[(live.findIndex(({ name }) => name === main?.name) + 1) % live.length]?.name),
  }
}

/** Returns the camera that the page knows before the list arrives. */
const initialCameras = (streamUrl: string): ListedCamera[] =>
  streamUrl === ''
    ? []
    : [{ name: 'stream-url', label: null, whep_url: null, stream_url: streamUrl, live: true, audio: false }]

function shownCamera(
  { name, label, whep_url, stream_url }: ListedCamera,
  iceServers: CameraList['ice_servers'] | undefined,
  getToken: (() => Promise<string>) | undefined,
  canSpeak: boolean,
): ShownCamera {
  const whepOptions = { iceServers: iceServers ?? [], canSpeak, ...(getToken && { getToken }) }
  const source = whep_url === null ? (stream_url ?? '') : publishedSource(whep_url, whepOptions)
  return { name, label: label ?? name, source }
}

async function ticketFor(rest: RestClient, id: string, part: 'control' | 'watch'): Promise<string> {
  const request = rest.POST('/api/sessions/{id}/ticket', { params: { path: { id } }, body: { part } })
  return (await answerOf(request)).ticket
}

export interface WatchedCamera {
  readonly name: string
  readonly label: string
  readonly watch: VideoWatch
}

/** Returns the large picture and the small ones with their viewers, and where to put the viewers. */
export function useShownCameras({ main }: Cameras) {
  const [watch, setWatch] = useState<VideoWatch>()
  const [small, setSmall] = useState<readonly WatchedCamera[]>([])
  const { name, label } = main ?? {}
  const shown = useMemo(
    (): readonly WatchedCamera[] =>
      watch && name !== undefined && label !== undefined ? [{ name, label, watch }, ...small] : small,
    [watch, name, label, small],
  )
  return { watch, shown, onWatch: setWatch, onSmallWatches: setSmall }
}
