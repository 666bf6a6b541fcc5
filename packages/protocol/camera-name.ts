/** Cameras of one robot. */
export const MAX_CAMERAS = 8
/** The name of a camera that a robot publishes, which is a part of its address. */
export const CAMERA_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/
