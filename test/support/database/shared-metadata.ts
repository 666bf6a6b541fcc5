import { MetadataDiscovery } from '@mikro-orm/core'

// The ORM discovers its entities again for each world, which took a third of the time to start one. The entities are the
// same for all worlds of a process, so all ORMs after the first one use its result.
const { discover } = MetadataDiscovery.prototype
let discovered: ReturnType<typeof discover> | undefined

MetadataDiscovery.prototype.discover = function (...args) {
  discovered ??= discover.apply(this, args)
  return discovered
}
