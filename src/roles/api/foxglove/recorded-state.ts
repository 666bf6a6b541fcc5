import type { ClientConnection } from './client-connection.ts'
import type { RecordedChannels } from './recorded-channels.ts'

/**
 * Sends the state of channels at a position: the last message of each, and of video all messages since the last keyframe.
 * Ends early when the signal is aborted.
 */
export async function sendRecordedState(
  connection: ClientConnection,
  recorded: RecordedChannels,
  at: { channelIds: readonly number[]; positionNs: bigint; signal: AbortSignal },
): Promise<void> {
  const { channelIds, positionNs, signal } = at
  const keyframes = new Map<number, bigint>()
  for (const channelId of channelIds) {
    if (recorded.isVideo(channelId)) {
      const keyframeNs = await recorded.keyframeBefore(channelId, positionNs, signal)
      if (keyframeNs !== undefined) keyframes.set(channelId, keyframeNs)
    } else {
      const last = await recorded.lastBefore(channelId, positionNs)
      if (last && !signal.aborted) connection.publish(channelId, recorded.toMessage(last))
    }
    if (signal.aborted) return
  }
  await sendVideo(connection, recorded, { keyframes, positionNs, signal })
}

/** Sends the frames of several cameras, each from its keyframe to the position. */
async function sendVideo(
  connection: ClientConnection,
  recorded: RecordedChannels,
  part: { keyframes: ReadonlyMap<number, bigint>; positionNs: bigint; signal: AbortSignal },
): Promise<void> {
  const { keyframes, positionNs, signal } = part
  const [firstNs] = [...keyframes.values()].sort((one, other) => (one < other ? -1 : 1))
  if (firstNs === undefined) return
  for await (const message of recorded.from([...keyframes.keys()], firstNs, positionNs)) {
    await connection.drained()
    if (signal.aborted) return
    const keyframeNs = keyframes.get(message.channelId)
    if (keyframeNs !== undefined && message.logTime >= keyframeNs)
      connection.publish(message.channelId, recorded.toMessage(message))
  }
}
