import { CAMERA_NAME, exampleIds, idOf, MAX_CAMERAS } from '@wheelhouse/protocol'
import { z } from 'zod'
import { line } from '../../core/http/fields.ts'

/** The name of the camera at the robot's `stream_url`. Robots cannot publish under it. */
export const STREAM_URL_CAMERA = 'stream-url'

const name = z
  .string()
  .regex(
    CAMERA_NAME,
    'must be 1 to 32 lower-case letters, digits, - and _, and begin with a letter or a digit',
  )
  .meta({ description: 'Name of the camera, unique per robot.', examples: ['front'] })
const label = line(100)
  .nullable()
  .meta({ description: "The owner's text for the camera; null to show its name.", examples: ['Gripper'] })
const position = z
  .number()
  .int()
  .min(0)
  .max(MAX_CAMERAS - 1)
  .meta({
    description: 'Place in the order of the cameras, from 0. The first one is the large picture.',
    examples: [0],
  })

/** The name of a camera that a robot publishes. */
const camera = name.refine(
  (text) => text !== STREAM_URL_CAMERA,
  'is reserved for the stream_url. Use another name',
)

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
/** The id of a peer: its media role, and a number that cannot be guessed. */
const RESOURCE_ID = new RegExp(`^${UUID}\\.${UUID}$`)
const resource = z
  .string()
  .regex(RESOURCE_ID, 'must be the end of the Location of the resource')
  .meta({ examples: [`${exampleIds.operator}.${exampleIds.robot}`] })

export const RobotCameraParams = z.strictObject({ id: idOf('robot'), camera })
export const RobotResourceParams = z.strictObject({ id: idOf('robot'), camera, resource })
export const SessionCameraParams = z.strictObject({ id: idOf('session'), camera })
export const SessionResourceParams = z.strictObject({ id: idOf('session'), camera, resource })

/** Body of PATCH /api/client/robots/{id}/cameras/{camera}. */
export const UpdateCamera = z
  .strictObject({ label, position })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'Name at least one field to change')
export type UpdateCamera = z.infer<typeof UpdateCamera>

const CameraView = z
  .object({
    name,
    label,
    position,
    source: z.enum(['webrtc', 'stream_url']).meta({
      description:
        'webrtc for a camera that the robot publishes; stream_url for the address that the owner has set.',
    }),
    live: z.boolean().meta({
      description: 'Whether the robot publishes the camera now. Always true for stream_url.',
    }),
    whep_url: z
      .string()
      .nullable()
      .meta({
        description: 'Where to watch over WebRTC (WHEP); null for stream_url.',
        examples: [`/api/sessions/${exampleIds.session}/whep/front`],
      }),
    stream_url: z
      .string()
      .nullable()
      .meta({ description: 'Address of the video; null for webrtc.', examples: [null] }),
    audio: z.boolean().meta({ description: 'Whether the camera has sound.' }),
    codec: z
      .string()
      .nullable()
      .meta({ description: 'VP8 or H264; null before the first frame.', examples: ['VP8'] }),
    bits_per_second: z
      .number()
      .int()
      .meta({ examples: [1_200_000] }),
    frames_per_second: z.number().meta({ examples: [30] }),
    latency_ms: z
      .number()
      .int()
      .nullable()
      .meta({
        description:
          'Time from capture to the platform in milliseconds; null if the robot does not send its clock.',
        examples: [35],
      }),
  })
  .meta({ id: 'Camera', description: 'A camera of a robot.' })
export type CameraView = z.infer<typeof CameraView>

export const CameraList = z
  .object({
    cameras: z.array(CameraView),
    ice_servers: z
      .array(
        z.object({
          urls: z.string().meta({ examples: ['turn:turn.example.com:3478?transport=udp'] }),
          username: z.string().meta({ examples: [`1795167060:${exampleIds.operator}`] }),
          credential: z.string().meta({ examples: ['q1w2e3r4'] }),
        }),
      )
      .meta({ description: 'TURN servers with credentials for some hours, for networks that block UDP.' }),
  })
  .meta({ id: 'CameraList', description: 'The cameras of a robot in their order, and how to reach them.' })
export type CameraList = z.input<typeof CameraList>
