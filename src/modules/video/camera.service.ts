import type { Db } from '../../core/database/tables.ts'
import { conflict, notFound } from '../../core/errors/errors.ts'
import type { Caller } from '../../core/http/endpoint.ts'
import { ownedBy, type Scope } from '../../core/permissions/authorization.ts'
import type { CameraList, CameraView, UpdateCamera } from './camera.schema.ts'
import { STREAM_URL_CAMERA } from './camera.schema.ts'
import type { CameraStore } from './camera.store.ts'
import { iceServersFor, type TurnSettings } from './ice-servers.ts'

export interface SeenSession {
  readonly id: string
  readonly status: string
  readonly robot_id: string
  readonly client_id: string
}

/** Lists the cameras of robots and changes their order and labels. */
export function createCameras(deps: {
  db: Db
  store: CameraStore
  turn: TurnSettings | undefined
  now: () => Date
}) {
  const { db, store, turn, now } = deps

  /** Returns the robot of an owner. */
  async function ownRobot(scope: Scope, robotId: string) {
    const robot = await db
      .selectFrom('robots')
      .select(['id', 'stream_url'])
      .where('id', '=', robotId)
      .where(ownedBy(scope))
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (!robot) throw notFound('Robot')
    return robot
  }

  async function listOf(
    robot: { id: string; stream_url: string },
    viewerId: string,
    whepPath: string,
  ): Promise<CameraList> {
    const published = (await store.camerasOf(robot.id)).map(
      (row): CameraView => ({
        name: row.name,
        label: row.label,
        position: row.position,
        source: 'webrtc',
        live: row.is_live,
        whep_url: `${whepPath}/${row.name}`,
        stream_url: null,
        audio: row.is_live && row.has_audio,
        codec: row.codec,
        bits_per_second: row.is_live ? row.bits_per_second : 0,
        frames_per_second: row.is_live ? row.frames_per_second : 0,
        latency_ms: row.is_live ? row.latency_ms : null,
      }),
    )
    const cameras = robot.stream_url === '' ? published : [...published, streamUrlCamera(robot.stream_url)]
    return { cameras, ice_servers: iceServersFor(turn, viewerId, now()) }
  }

  return {
    /** Returns the cameras of a robot for its owner. */
    async listForOwner(scope: Scope, robotId: string): Promise<CameraList> {
      const robot = await ownRobot(scope, robotId)
      return await listOf(robot, scope.actorId, `/api/client/robots/${robotId}/whep`)
    },

    /**
     * Returns the cameras of a session's robot for a user who may see the session. Once it is over, only the owner sees
     * them.
     */
    async listForSession(session: SeenSession, caller: Caller): Promise<CameraList> {
      const isOpen = session.status === 'ACTIVE' || session.status === 'PAUSED'
      if (!isOpen && session.client_id !== caller.organization.id) return { cameras: [], ice_servers: [] }
      const robot = await db
        .selectFrom('robots')
        .select(['id', 'stream_url'])
        .where('id', '=', session.robot_id)
        .executeTakeFirstOrThrow()
      return await listOf(robot, caller.userId, `/api/sessions/${session.id}/whep`)
    },

    /** @throws 404 unless the robot belongs to the owner. */
    requireOwner: async (scope: Scope, robotId: string): Promise<void> => {
      await ownRobot(scope, robotId)
    },

    /** Changes the label or the place of a camera. Another camera at that place moves to the place before. */
    async update(scope: Scope, robotId: string, camera: string, change: UpdateCamera): Promise<CameraList> {
      await ownRobot(scope, robotId)
      if (!(await store.changeCamera(robotId, camera, change))) throw notFound('Camera')
      return await this.listForOwner(scope, robotId)
    },

    /** Removes a camera that is not sending. */
    async remove(scope: Scope, robotId: string, camera: string): Promise<void> {
      await ownRobot(scope, robotId)
      const outcome = await store.removeCamera(robotId, camera)
      if (outcome === 'unknown') throw notFound('Camera')
      if (outcome === 'live')
        throw conflict('camera_live', 'The camera is sending. Stop it at the robot, then remove it.')
    },
  }
}
export type CameraService = ReturnType<typeof createCameras>

const streamUrlCamera = (streamUrl: string): CameraView => ({
  name: STREAM_URL_CAMERA,
  label: null,
  position: 0,
  source: 'stream_url',
  live: true,
  whep_url: null,
  stream_url: streamUrl,
  audio: false,
  codec: null,
  bits_per_second: 0,
  frames_per_second: 0,
  latency_ms: null,
})
