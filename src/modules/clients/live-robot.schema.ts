import {
  AutonomyMode,
  ControlHolder,
  ControlRequest,
  idOf,
  RecordingMode,
  RecordingStatus,
  RobotState,
  SessionStatus,
} from '@wheelhouse/protocol'
import { z } from 'zod'
import { queryInteger, timestamp } from '../../core/http/fields.ts'

/** Most robots in one response: the tiles of a wall. */
const LIVE_ROBOTS_MAX = 500

const LiveSession = z
  .object({
    id: idOf('session'),
    status: SessionStatus,
    started_at: timestamp,
    operator_id: idOf('operator'),
    operator_name: z.string().meta({ examples: ['Grace'] }),
    pause_reason: z
      .string()
      .nullable()
      .meta({ description: 'Null unless it is PAUSED.', examples: [null] }),
    paused_at: timestamp.nullable().meta({ description: 'Null unless it is PAUSED.', examples: [null] }),
    ends_at: timestamp.nullable().meta({
      description: 'When the platform ends it because its operator is gone; null unless that is announced.',
      examples: [null],
    }),
    stop: z
      .object({
        reason: z.string().meta({ examples: ['A person is in its way'] }),
        at: timestamp,
        by_name: z
          .string()
          .nullable()
          .meta({ examples: ['Ada'] }),
        clear_requested_at: timestamp
          .nullable()
          .meta({ description: 'When its operator asked to clear it.', examples: [null] }),
      })
      .nullable()
      .meta({ description: 'The latched remote stop; null when none is latched.', examples: [null] }),
    requested_minutes: z
      .number()
      .int()
      .nullable()
      .meta({
        description: 'The extension that its operator asks for now; null without one.',
        examples: [null],
      }),
    holder: ControlHolder.pick({ user_id: true, kind: true, name: true }).nullable().optional().meta({
      id: 'LiveHolder',
      description:
        'Who controls the robot; null for nobody. Missing until control changes hands: its operator does.',
    }),
    asks_for_control: ControlRequest.pick({ kind: true, from_name: true })
      .nullable()
      .meta({
        description:
          'The oldest open offer without a receiver, which asks for help, or request for control; null without one.',
        examples: [null],
      }),
    recording: z
      .object({
        mode: RecordingMode.exclude(['off']),
        status: RecordingStatus,
        paused_reason: z
          .string()
          .nullable()
          .meta({ examples: [null] }),
      })
      .nullable()
      .meta({ description: 'Null for a session that is not recorded.', examples: [null] }),
  })
  .meta({ id: 'LiveSession', description: 'The open session of a robot, as its owner sees it.' })

export const LiveRobot = z
  .object({
    id: idOf('robot'),
    name: z.string().meta({ examples: ['Warehouse arm'] }),
    robot_type: z.string().meta({ examples: ['so-101'] }),
    tags: z.array(z.string()).meta({ examples: [['site-a']] }),
    state: RobotState,
    on_hold: z.boolean().meta({ description: 'Whether the robot rejects new sessions.', examples: [false] }),
    stream_url: z
      .string()
      .meta({ description: 'Empty when the robot has no video.', examples: ['https://cam.example.com/1'] }),
    camera: z
      .string()
      .nullable()
      .meta({
        description: 'Name of the first camera that the robot publishes now; null without one.',
        examples: ['front'],
      }),
    battery: z
      .number()
      .nullable()
      .meta({ description: 'Charge, 0 to 1; null when not reported.', examples: [0.62] }),
    battery_at: timestamp.nullable(),
    mode: AutonomyMode.nullable().meta({
      description:
        'Whether it drives by itself; null while it does not report that, and while it is not connected.',
      examples: ['autonomous'],
    }),
    last_heartbeat: timestamp.nullable(),
    session: LiveSession.nullable(),
  })
  .meta({ id: 'LiveRobot', description: 'A robot that is connected or in an open session.' })
export type LiveRobot = z.infer<typeof LiveRobot>

/** Query of GET /api/client/live-robots. */
export const ListLiveRobots = z.strictObject({
  robotId: z.uuid().optional().meta({ description: 'Lists this robot only, if it is live.' }),
  limit: queryInteger(1, LIVE_ROBOTS_MAX).default(LIVE_ROBOTS_MAX),
})
export type ListLiveRobots = z.infer<typeof ListLiveRobots>

/** Response of GET /api/client/live-robots. */
export const LiveRobotList = z
  .object({
    at: timestamp.meta({ description: 'When this was read.' }),
    total: z
      .number()
      .int()
      .meta({ description: 'All live robots, also those not listed.', examples: [3] }),
    robots: z.array(LiveRobot).meta({
      description:
        'Robots that need attention first (stopped, lost, paused), then other open sessions, then the rest, each by name.',
    }),
  })
  .meta({ id: 'LiveRobotList', description: 'The live robots of an owner.' })
export type LiveRobotList = z.infer<typeof LiveRobotList>
