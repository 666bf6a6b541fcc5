import { endLeftOvers } from './directory-lock.ts'

// Its standard input ends with the cluster's own process, even when that is killed. One that has ended in order has
// left no record behind.
const dataDir = process.argv[2]
process.stdin.resume().once('close', () => {
  if (dataDir !== undefined) endLeftOvers(dataDir).catch(() => process.exit(1))
})
