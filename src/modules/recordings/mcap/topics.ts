import {
  Autonomy,
  CancelGoal,
  cameraOfTopic,
  DriveStop,
  DropReason,
  Goal,
  recordingTopics,
  SessionStatus,
} from '@wheelhouse/protocol'
import { z } from 'zod'
import { type FrameSchema, frameDescriptor } from './compressed-frame.ts'

// The messages of a recording. `docs/recordings.md` describes them for readers of the files.

/** A topic as MCAP and Foxglove describe it. */
export interface TopicDefinition {
  readonly topic: string
  readonly schemaName: string
  readonly schemaEncoding: 'jsonschema' | 'protobuf'
  readonly schema: Uint8Array
  readonly messageEncoding: 'json' | 'protobuf'
}

/** The payload of a frame: a JSON value, or the bytes of a binary frame in base64. */
const payload = {
  data: z.unknown().optional().meta({ description: 'The data of the frame, as its sender sent it' }),
  data_base64: z.string().optional().meta({ description: 'The bytes of a binary frame, in base64' }),
}
const controlFields = {
  seq: z.number().int().meta({ description: 'Number of the frame on its connection' }),
  epoch: z.number().int().optional().meta({
    description:
      'Of the control lease; 1 without it. The events control.transferred say who held control in it',
  }),
  t: z.number().meta({ description: "Operator's clock when the frame was made, in milliseconds" }),
  ttl_ms: z.number().int().optional().meta({ description: 'Rest of its lifetime, in milliseconds' }),
  speed_scale: z.number().optional(),
  age_ms: z.number().optional().meta({ description: 'Age of the command at the gateway, in milliseconds' }),
  seen: z.record(z.string(), z.number()).optional().meta({
    description:
      'When the newest picture of each camera that the operator saw was captured, in Unix milliseconds',
  }),
  ...payload,
}
const ControlMessage = z.object(controlFields)
const DroppedMessage = z.object({
  why: DropReason,
  policy_id: z.string().optional().meta({
    description:
      'The service account whose command it is: a policy that did not hold control. Missing for others',
  }),
  ...controlFields,
})
const TelemetryMessage = z.object({
  t: z
    .unknown()
    .optional()
    .meta({ description: 'A number is when the robot made the sample, by its clock, in milliseconds' }),
  ...payload,
})
const GoalMessage = z.discriminatedUnion('type', [
  Goal.omit({ order: true }),
  CancelGoal.omit({ order: true }),
])
const LimitsMessage = z.object({ speed_scale: z.number(), reason: z.string().nullable() })
const LatencyMessage = z.object({
  operator_ms: z.number().nullable().meta({ description: 'Round trip to the operator, in milliseconds' }),
  robot_ms: z.number().nullable().meta({ description: 'Round trip to the robot, in milliseconds' }),
})
const StopMessage = z.object({
  status: SessionStatus,
  robot_connected: z.boolean(),
  stop: DriveStop.nullable(),
})
export const EventMessage = z.object({
  seq: z.number().int(),
  type: z.string(),
  data: z.record(z.string(), z.unknown()),
})
export const ChatEntry = z.object({
  seq: z.number().int(),
  id: z.string(),
  sender_id: z.string(),
  sender_name: z.string(),
  sender_role: z.string(),
  body: z.string(),
})

const jsonTopic = (topic: string, schemaName: string, schema: z.ZodType): TopicDefinition => ({
  topic,
  schemaName,
  schemaEncoding: 'jsonschema',
  // As an input, objects may have further fields: a message has all fields of its frame, such as `type`.
  schema: Buffer.from(JSON.stringify(z.toJSONSchema(schema, { target: 'draft-7', io: 'input' }))),
  messageEncoding: 'json',
})

const fixedTopics = new Map(
  [
    jsonTopic(recordingTopics.control, 'wheelhouse.Control', ControlMessage),
    jsonTopic(recordingTopics.dropped, 'wheelhouse.DroppedControl', DroppedMessage),
    jsonTopic(recordingTopics.telemetry, 'wheelhouse.Telemetry', TelemetryMessage),
    jsonTopic(recordingTopics.goal, 'wheelhouse.Goal', GoalMessage),
    jsonTopic(recordingTopics.autonomy, 'wheelhouse.Autonomy', Autonomy),
    jsonTopic(recordingTopics.limits, 'wheelhouse.Limits', LimitsMessage),
    jsonTopic(recordingTopics.latency, 'wheelhouse.Latency', LatencyMessage),
    jsonTopic(recordingTopics.stop, 'wheelhouse.Stop', StopMessage),
    jsonTopic(recordingTopics.events, 'wheelhouse.SessionEvent', EventMessage),
    jsonTopic(recordingTopics.chat, 'wheelhouse.ChatMessage', ChatEntry),
  ].map((definition) => [definition.topic, definition]),
)

/** Returns the definition of a topic. A camera's depends on whether it sends video or pictures. */
export function topicDefinition(topic: string, frames: FrameSchema = 'CompressedVideo'): TopicDefinition {
  const fixed = fixedTopics.get(topic)
  if (fixed) return fixed
  if (cameraOfTopic(topic) === undefined) throw new Error(`no topic ${topic}`)
  return {
    topic,
    schemaName: `foxglove.${frames}`,
    schemaEncoding: 'protobuf',
    schema: frameDescriptor(frames),
    messageEncoding: 'protobuf',
  }
}
