// A WebSocket to the gateway that reconnects. docs/protocol.md describes the wire.

/** Close codes after which a client should reconnect. */
const RECONNECT_CODES = new Set([1006, 4008, 4009, 4408, 4500, 4503])
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 10_000
const CONNECT_LIMIT_MS = 10_000

/** Returns a monotonic time in milliseconds, close to Unix time. */
export const nowMs = () => performance.timeOrigin + performance.now()

/** Returns the JSON object of a text; null for any other text. */
function readFrame(text) {
  try {
    const frame = JSON.parse(text)
    return typeof frame === 'object' ? frame : null
  } catch {
    return null
  }
}

/**
 * Connects with the `{url, token}` that `admission()` resolves to, and reconnects after losses. `admission` may throw;
 * an error with `final: true` ends the attempts. After `silenceMs` without a frame, the connection counts as lost. Text that is no
 * frame goes to `onUnreadable`.
 * @returns `send(frame)`, true if an open socket without a backlog accepted the frame; `expectFrames(forMs)`; `close()`
 */
export function openLink({ admission, onOpen, onFrame, onBinary, onUnreadable, onState, silenceMs = 5_000 }) {
  let socket = null
  let retry
  let silence
  let limitMs = silenceMs
  let ended = false
  let failures = 0

  function lost(why, final) {
    socket = null
    clearTimeout(silence)
    if (ended) return
    onState(final ? `ended: ${why}` : `lost: ${why}`)
    if (final) {
      ended = true
      return
    }
    // Full jitter spreads the reconnects of clients that lost the same gateway.
    const ceilingMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures++)
    retry = setTimeout(dial, Math.random() * ceilingMs)
  }

  async function dial() {
    onState('connecting')
    let admitted
    try {
      admitted = await admission()
    } catch (problem) {
      return lost(problem.message, problem.final === true)
    }
    if (ended) return
    // The gateway selects the first entry, so it does not send the token back.
    const attempt = new WebSocket(admitted.url, ['wheelhouse.v1', `bearer.${admitted.token}`])
    attempt.binaryType = 'arraybuffer'
    socket = attempt
    // close() of a dead connection takes long, so the link does not wait for its close event.
    const giveUp = (why) => {
      if (attempt !== socket) return
      attempt.close()
      lost(why, false)
    }
    const listen = (forMs) => {
      clearTimeout(silence)
      silence = setTimeout(() => giveUp('silence'), forMs)
    }
    listen(CONNECT_LIMIT_MS)
    attempt.onopen = () => {
      if (attempt !== socket) return
      listen(limitMs)
      onOpen?.()
      onState('connected')
    }
    attempt.onmessage = ({ data }) => {
      if (attempt !== socket) return
      failures = 0
      listen(limitMs)
      if (typeof data !== 'string') return onBinary?.(new DataView(data))
      const frame = readFrame(data)
      if (frame) onFrame(frame)
      else onUnreadable?.()
    }
    // Browsers also report a close; Node 22 does not if the upgrade was refused.
    attempt.onerror = () => {
      if (attempt === socket) lost('1006', false)
    }
    attempt.onclose = ({ code, reason }) => {
      if (attempt !== socket) return
      lost(`${code} ${reason}`.trim(), !RECONNECT_CODES.has(code))
    }
  }

  dial()
  return {
    /** Sets the silence after which the connection counts as lost, from the next frame on. */
    expectFrames(forMs) {
      limitMs = forMs
    },
    send(frame) {
      if (socket?.readyState !== WebSocket.OPEN || socket.bufferedAmount > 64 * 1024) return false
      socket.send(JSON.stringify(frame))
      return true
    },
    close() {
      ended = true
      clearTimeout(retry)
      clearTimeout(silence)
      socket?.close(1000)
      socket = null
      onState('closed')
    },
  }
}
