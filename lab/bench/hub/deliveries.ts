/** Counts that the generator sends to the benchmark. */
export interface DeliveryReport {
  readonly delivered: number
  readonly bytes: number
  /** Time from the first delivery to the last. */
  readonly tookMs: number
  /** Missing deliveries to followers. */
  readonly lost: number
  /** Duplicates, and deliveries after a later one. */
  readonly strange: number
}

/** Deliveries to all followers since the last mark. */
export class Deliveries {
  delivered = 0
  private bytes = 0
  private skipped = 0
  private strange = 0
  private firstMs = Number.NaN
  private lastMs = Number.NaN
  private readonly followers: Follower[] = []

  /** Creates a follower that has everything up to number `after` and receives the rest in order. */
  follow(after: number): Follower {
    const follower = new Follower(this, after)
    this.followers.push(follower)
    return follower
  }

  arrived(bytes: number, nowMs: number): void {
    if (this.delivered === 0) this.firstMs = nowMs
    this.lastMs = nowMs
    this.delivered++
    this.bytes += bytes
  }

  arrivedStrangely(): void {
    this.strange++
  }

  wasSkipped(numbers: number): void {
    this.skipped += numbers
  }

  /** Returns counts since the last mark; `upTo` is the number that every follower should have reached. */
  report(upTo: number): DeliveryReport {
    const behind = this.followers.reduce((total, { last }) => total + Math.max(0, upTo - last), 0)
    const { delivered, bytes, strange } = this
    return { delivered, bytes, tookMs: this.lastMs - this.firstMs, lost: this.skipped + behind, strange }
  }

  /** Excludes everything so far from the counts. */
  mark(): void {
    this.delivered = this.bytes = this.skipped = this.strange = 0
  }
}

/** One connection that expects 1, 2, 3 and so on. */
export class Follower {
  last: number
  private readonly deliveries: Deliveries

  constructor(deliveries: Deliveries, after: number) {
    this.deliveries = deliveries
    this.last = after
  }

  take(seq: number, bytes: number, nowMs: number): void {
    if (!(seq > this.last)) return this.deliveries.arrivedStrangely()
    this.deliveries.wasSkipped(seq - this.last - 1)
    this.last = seq
    this.deliveries.arrived(bytes, nowMs)
  }
}
