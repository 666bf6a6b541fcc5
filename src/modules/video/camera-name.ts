/** Cameras of one robot. */
export const MAX_CAMERAS = 8

/** The name of the camera at the robot's `stream_url`. Robots cannot publish under it. */
export const STREAM_URL_CAMERA = 'stream-url'
