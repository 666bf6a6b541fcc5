/**
 * @license Tabler Icons 3.51.0, MIT, Copyright (c) 2020-2026 Paweł Kuna: packages/console/src/base/icons.LICENSE
 *
 * The icons of a replay, apart from those of the first view.
 */
import { drawn } from '../../base/icons.tsx'

export const IconStepForward = drawn('M4 5v14l12 -7zM20 5l0 14')
export const IconStepBack = drawn('M20 5v14l-12 -7zM4 5l0 14')
export const IconBookmark = drawn('M18 7v14l-6 -4l-6 4v-14a4 4 0 0 1 4 -4h4a4 4 0 0 1 4 4z')
export const IconShare = drawn(
  'M6 12m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0M18 6m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0M18 18m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0M8.7 10.7l6.6 -3.4M8.7 13.3l6.6 3.4',
)
export const IconDownload = drawn('M4 17v2a2 2 0 0 0 2 2h12a2 2 0 0 0 2 -2v-2M7 11l5 5l5 -5M12 4l0 12')
export const IconZoomIn = drawn('M10 10m-7 0a7 7 0 1 0 14 0a7 7 0 1 0 -14 0M7 10l6 0M10 7l0 6M21 21l-6 -6')
export const IconZoomOut = drawn('M10 10m-7 0a7 7 0 1 0 14 0a7 7 0 1 0 -14 0M7 10l6 0M21 21l-6 -6')
export const IconFit = drawn('M7 8l-4 4l4 4M17 8l4 4l-4 4M3 12l18 0')
export const IconTrash = drawn(
  'M4 7l16 0M10 11l0 6M14 11l0 6M5 7l1 12a2 2 0 0 0 2 2h8a2 2 0 0 0 2 -2l1 -12M9 7v-3a1 1 0 0 1 1 -1h4a1 1 0 0 1 1 1v3',
)
export const IconNextStop = drawn('M4 8l4 -4h5l4 4v8l-4 4h-5l-4 -4zM21 5v14')
export const IconPreviousStop = drawn('M20 8l-4 -4h-5l-4 4v8l4 4h5l4 -4zM3 5v14')
export const IconExpand = drawn('M16 4h4v4M14 10l6 -6M8 20h-4v-4M4 20l6 -6')
