import type { EventEmitter } from 'node:events'
import * as library from 'roslib'
import { z } from 'zod'
import { servePeer } from './peer-server.ts'
import { type Command, type OperatorEvents, type Transport, TTL_MS } from './transport.ts'

const RECONNECT_MS = 250
const TWIST = 'geometry_msgs/msg/TwistStamped'

const Vector = z.object({ x: z.number(), y: z.number(), z: z.number() })
/** A stamped twist, with the time of the command in its stamp, and its number as the name of the frame. */
const TwistStamped = z.object({
  header: z.object({ stamp: z.object({ sec: z.number(), nanosec: z.number() }), frame_id: z.string() }),
  twist: z.object({ linear: Vector, angular: Vector }),
})
type TwistStamped = z.infer<typeof TwistStamped>

interface RosClient extends EventEmitter {
  readonly isConnected: boolean
  connect(url: string): Promise<void>
  close(): void
}
interface RosTopic {
  subscribe(listener: (message: unknown) => void): void
  publish(message: TwistStamped): void
}
// The part of roslib that the lab uses: its own declarations import files without extensions, which TypeScript does not
// resolve here.
const { Ros, Topic } = library as unknown as {
  readonly Ros: new () => RosClient
  readonly Topic: new (options: { ros: RosClient; name: string; messageType: string }) => RosTopic
}

/** The rosbridge protocol, spoken by roslib: the operator publishes on a topic to which the robot subscribes. */
export const rosbridgeTransport: Transport = {
  name: 'rosbridge',
  role: 'peer',
  silenceHaltMs: TTL_MS,
  serve: (site) =>
    servePeer(site, 'lab/netlab/servers/rosbridge.ts', (origin, _side, pair) => ({
      url: `ws://${origin}/#/robot_${pair}/cmd_vel`,
    })),

  async connectOperator({ url }, events) {
    const client = await connected(url, events)
    const topic = client.topic()
    return {
      send(command) {
        if (!client.ros.isConnected) return false
        topic.publish(twistOf(command))
        return true
      },
      close: client.close,
    }
  },

  async connectRobot({ url }, robot) {
    const client = await connected(url, { onLost() {} })
    client.topic().subscribe((message) => robot.execute(commandOf(TwistStamped.parse(message))))
    return { close: client.close }
  },
}

async function connected(url: string, events: Pick<OperatorEvents, 'onLost'>) {
  const { origin, hash } = new URL(url)
  const ros = new Ros()
  let closed = false
  ros.on('error', () => {}) // 'close' follows
  await new Promise<void>((resolve) => {
    ros.once('connection', () => resolve())
    void ros.connect(origin)
  })
  ros.on('close', () => {
    if (closed) return
    events.onLost()
    setTimeout(() => {
      if (!closed) void ros.connect(origin)
    }, RECONNECT_MS)
  })
  return {
    ros,
    topic: () => new Topic({ ros, name: hash.slice(1), messageType: TWIST }),
    async close() {
      closed = true
      ros.close()
    },
  }
}

function twistOf({ seq, sent_ms, linear_mps, angular_radps }: Command): TwistStamped {
  const sec = Math.floor(sent_ms / 1_000)
  const nanosec = Math.round((sent_ms - sec * 1_000) * 1e6)
  return {
    header: { stamp: { sec, nanosec }, frame_id: String(seq) },
    twist: { linear: { x: linear_mps, y: 0, z: 0 }, angular: { x: 0, y: 0, z: angular_radps } },
  }
}

const commandOf = ({ header, twist }: TwistStamped): Command => ({
  seq: Number(header.frame_id),
  sent_ms: header.stamp.sec * 1_000 + header.stamp.nanosec / 1e6,
  linear_mps: twist.linear.x,
  angular_radps: twist.angular.z,
})
