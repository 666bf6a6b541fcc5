import { Worker } from 'node:worker_threads'

// Uses all of one core until the parent ends, however it ends: its end of the pipe closes.
new Worker('for (;;);', { eval: true })
process.stdin.on('close', () => process.exit()).resume()
