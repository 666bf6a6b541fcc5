/**
 * The bitrate that the platform allows a camera while no client watches it, in bits per second. It allows exactly this much at no other
 * time. It is what a browser begins with: its sender needs seconds for each doubling, so that less would cost the next viewer's picture.
 */
export const UNWATCHED_BITS_PER_SECOND = 300_000
