import { endLeftOvers } from './directory-lock.ts'

// Its standard input ends with the cluster's own process, even when that is killed. A cluster that has ended in order
// has deleted its record.
const dataDir = process.argv[2]
process.stdin.resume().once('close', () => {
  if (dataDir !== undefined) endLeftOvers(dataDir).catch(() => process.exit(1))
})
