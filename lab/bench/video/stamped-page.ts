// Scripts of the pages: a camera whose picture contains the time, and a reader of it. Both pages use the clock of the machine.

const [WIDTH, HEIGHT, CELLS, CELL] = [640, 360, 16, 40]
const FRAMES_PER_SECOND = 30
/** Without reports of the platform for this time, the page publishes again, as the SDK does. */
const SILENT_MS = 1_100
/** The picture contains the last 16 bits of the time in milliseconds. */
const WRAP_MS = 2 ** CELLS

/** Returns a script that publishes a canvas, whose first row of cells is the time, until its page is closed. */
export const publisherScript = (url: string, token: string): string => `(async () => {
  const canvas = Object.assign(document.createElement('canvas'), { width: ${WIDTH}, height: ${HEIGHT} })
  const context = canvas.getContext('2d')
  setInterval(() => {
    const now = Date.now() % ${WRAP_MS}
    context.fillStyle = 'hsl(' + (now / 50) % 360 + ' 60% 40%)'
    context.fillRect(0, ${CELL}, ${WIDTH}, ${HEIGHT})
    for (let bit = 0; bit < ${CELLS}; bit++) {
      context.fillStyle = now & (1 << bit) ? 'white' : 'black'
      context.fillRect(bit * ${CELL}, 0, ${CELL}, ${CELL})
    }
  }, ${1_000 / FRAMES_PER_SECOND})
  const [track] = canvas.captureStream(${FRAMES_PER_SECOND}).getVideoTracks()
  async function publish() {
    const peer = new RTCPeerConnection()
    peer.addTransceiver(track, { direction: 'sendonly' })
    await peer.setLocalDescription()
    const headers = { 'Content-Type': 'application/sdp', Authorization: 'Bearer ${token}' }
    const response = await fetch('${url}', { method: 'POST', headers, body: peer.localDescription.sdp })
    if (response.status !== 201) throw new Error(await response.text())
    await peer.setRemoteDescription({ type: 'answer', sdp: await response.text() })
    let [newest, changedMs] = [0, performance.now()]
    await new Promise((over) => {
      const timer = setInterval(async () => {
        const reports = [...(await peer.getStats()).values()].filter(({ type }) => type === 'remote-inbound-rtp')
        const at = Math.max(0, ...reports.map(({ timestamp }) => timestamp))
        if (at !== newest) [newest, changedMs] = [at, performance.now()]
        if (newest > 0 && performance.now() - changedMs > ${SILENT_MS}) over(clearInterval(timer))
      }, 100)
    })
    peer.close()
  }
  const attempt = () => publish().catch(() => {}).then(() => setTimeout(attempt, 200))
  attempt()
})()`

/** Returns a script that reads the times from the shown pictures. Resolves with the latencies in milliseconds. */
export const readerScript = (seconds: number): string => `new Promise((finished) => {
  const video = document.querySelector('video')
  const canvas = Object.assign(document.createElement('canvas'), { width: ${CELLS}, height: 1 })
  const context = canvas.getContext('2d', { willReadFrequently: true })
  const latencies = []
  const untilMs = performance.now() + ${seconds * 1_000}
  const read = (nowMs, { expectedDisplayTime }) => {
    const shownMs = Date.now() + Math.max(0, expectedDisplayTime - performance.now())
    for (let bit = 0; bit < ${CELLS}; bit++)
      context.drawImage(video, bit * ${CELL} + ${CELL / 4}, ${CELL / 4}, ${CELL / 2}, ${CELL / 2}, bit, 0, 1, 1)
    const pixels = context.getImageData(0, 0, ${CELLS}, 1).data
    let stamp = 0
    for (let bit = 0; bit < ${CELLS}; bit++) if (pixels[bit * 4] > 127) stamp += 1 << bit
    latencies.push((shownMs - stamp + ${WRAP_MS}) % ${WRAP_MS})
    if (nowMs < untilMs) video.requestVideoFrameCallback(read)
    else finished(latencies)
  }
  video.requestVideoFrameCallback(read)
})`
