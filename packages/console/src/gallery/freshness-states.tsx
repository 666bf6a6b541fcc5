import { type FreshnessAges, freshnessOf } from '../live/freshness.ts'
import { FreshnessBadge, FreshnessOverlay } from '../live/freshness-badge.tsx'
import { VideoView } from '../video/video-view.tsx'
import { Column, FakePicture } from './frames.tsx'
import { type GalleryBlock, ON_PICTURE } from './gallery-state.ts'

const live: FreshnessAges = { pictureMs: 40, telemetryMs: 90, linkMs: 20 }
const badge = (ages: Partial<FreshnessAges>) => (
  <FreshnessBadge freshness={freshnessOf({ ...live, ...ages })} />
)
const overlay = (ages: Partial<FreshnessAges>, isHeld = false) => (
  <FakePicture>
    <FreshnessOverlay freshness={freshnessOf({ ...live, ...ages })} isHeld={isHeld} />
  </FakePicture>
)

export const freshnessBlocks: readonly GalleryBlock[] = [
  {
    title: 'Freshness badge',
    use: 'Use it once on each page and each tile that shows a robot: it says whether the page can be trusted.',
    states: [
      { id: 'freshness-live', label: 'Live', render: () => badge({}) },
      {
        id: 'freshness-connecting',
        label: 'Connecting',
        render: () => badge({ pictureMs: 300, isPictureAwaited: true }),
      },
      { id: 'freshness-delayed', label: 'Delayed', render: () => badge({ telemetryMs: 420 }) },
      { id: 'freshness-blind', label: 'Blind', render: () => badge({ pictureMs: 2_140 }) },
      {
        id: 'freshness-unknown',
        label: 'Picture of unknown age',
        render: () => badge({ pictureMs: 'unknown' }),
      },
    ],
  },
  {
    title: 'Freshness overlay',
    use: 'Use it above each picture of a robot, so that an old picture cannot be taken for a live one.',
    states: [
      { id: 'overlay-live', label: 'Live', schemes: ON_PICTURE, render: () => overlay({}) },
      {
        id: 'overlay-delayed',
        label: 'Delayed',
        schemes: ON_PICTURE,
        render: () => overlay({ pictureMs: 600 }),
      },
      {
        id: 'overlay-blind',
        label: 'Blind',
        schemes: ON_PICTURE,
        render: () => overlay({ pictureMs: 2_140 }),
      },
      {
        id: 'overlay-no-connection',
        label: 'No connection',
        schemes: ON_PICTURE,
        render: () => overlay({ linkMs: 12_400 }),
      },
      {
        id: 'overlay-held',
        label: 'Driving held',
        schemes: ON_PICTURE,
        render: () => overlay({ pictureMs: 1_300 }, true),
      },
    ],
  },
  {
    title: 'Video',
    use: 'Use it for the picture of a robot; it chooses the player by the response of the address.',
    states: [
      {
        id: 'video-missing',
        label: 'Robot without a video',
        render: () => (
          <Column>
            <VideoView source="" title="Camera of Ronja" />
          </Column>
        ),
      },
    ],
  },
]
