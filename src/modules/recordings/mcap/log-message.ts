import { recordingTopics, type SessionLogEvent } from '@wheelhouse/protocol'
import type { z } from 'zod'
import type { RecordedMessage } from './mcap-writer.ts'
import type { ChatEntry, EventMessage } from './topics.ts'

const NS_PER_MS = 1_000_000n

/** Returns an entry of a session's log as a message of a recording: chat in `/chat`, everything else in `/events`. */
export function logMessage(entry: SessionLogEvent): RecordedMessage {
  const atNs = BigInt(Date.parse(entry.at)) * NS_PER_MS
  const isChat = entry.type === 'chat.message'
  return {
    topic: isChat ? recordingTopics.chat : recordingTopics.events,
    logTimeNs: atNs,
    publishTimeNs: atNs,
    data: Buffer.from(JSON.stringify(isChat ? chatEntry(entry) : eventMessage(entry))),
  }
}

const eventMessage = ({ seq, type, data }: SessionLogEvent): z.infer<typeof EventMessage> => ({
  seq,
  type,
  data,
})

function chatEntry({ seq, data }: SessionLogEvent): z.infer<typeof ChatEntry> {
  const text = (name: string) => String(data[name] ?? '')
  return {
    seq,
    id: text('id'),
    sender_id: text('sender_id'),
    sender_name: text('sender_name'),
    sender_role: text('sender_role'),
    body: text('body'),
  }
}
