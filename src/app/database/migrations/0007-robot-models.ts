/**
 * The robots that are supported from the start. Degrees of freedom are actuated axes without grippers; a base that
 * drives counts the directions it can move in (two with two driven sides, three when it can move sideways).
 */
export const robotModels = `
insert into "robot_models"
  ("id", "robot_type", "name", "manufacturer", "category", "degrees_of_freedom", "control_modes", "notes")
values
  ('so-101', 'so-101', 'SO-101', 'The Robot Studio', 'arm', 5,
    '{joint_position,gripper}', 'Open design, made with Hugging Face; six servos: five joints and the gripper.'),
  ('koch-v1-1', 'koch-v1-1', 'Koch v1.1', 'Open design by Alexander Koch and Jess Moss', 'arm', 5,
    '{joint_position,gripper}', 'Six Dynamixel servos: five joints and the gripper.'),
  ('widowx-250-s', 'widowx-250-s', 'WidowX 250 S', 'Trossen Robotics', 'arm', 6,
    '{joint_position,gripper}', 'The six-axis version; the WidowX 250 without S has five axes.'),
  ('viperx-300-s', 'viperx-300-s', 'ViperX 300 S', 'Trossen Robotics', 'arm', 6,
    '{joint_position,gripper}', 'The six-axis version; the follower arm of ALOHA.'),
  ('aloha-2', 'aloha-2', 'ALOHA 2', 'Trossen Robotics', 'bimanual', 12,
    '{joint_position,gripper}', 'Two ViperX 300 S arms of six axes each; design by Google DeepMind and Stanford.'),
  ('piper', 'piper', 'PiPER', 'AgileX Robotics', 'arm', 6,
    '{joint_position,cartesian_pose,gripper}', null),
  ('franka-research-3', 'franka-research-3', 'Franka Research 3', 'Franka Robotics', 'arm', 7,
    '{joint_position,joint_velocity,cartesian_pose,cartesian_velocity,gripper}', 'Gripper: the Franka Hand.'),
  ('ur5e', 'ur5e', 'UR5e', 'Universal Robots', 'arm', 6,
    '{joint_position,joint_velocity,cartesian_pose,cartesian_velocity}', 'Sold without a gripper.'),
  ('xarm-6', 'xarm-6', 'xArm 6', 'UFACTORY', 'arm', 6,
    '{joint_position,joint_velocity,cartesian_pose,cartesian_velocity,gripper}', null),
  ('kinova-gen3', 'kinova-gen3', 'Gen3', 'Kinova', 'arm', 7,
    '{joint_position,joint_velocity,cartesian_pose,cartesian_velocity,gripper}',
    'The seven-axis version; there is one with six axes.'),
  ('stretch-3', 'stretch-3', 'Stretch 3', 'Hello Robot', 'mobile_manipulator', 9,
    '{joint_position,base_velocity,gripper}',
    'Base 2, lift 1, telescoping arm 1, wrist 3 (yaw, pitch, roll), head 2 (pan, tilt).'),
  ('lekiwi', 'lekiwi', 'LeKiwi', 'SIGRobotics UIUC', 'mobile_manipulator', 8,
    '{joint_position,base_velocity,gripper}', 'A base with three omnidirectional wheels and an SO-101 arm.'),
  ('reachy-2', 'reachy-2', 'Reachy 2', 'Pollen Robotics', 'humanoid', 20,
    '{joint_position,cartesian_pose,base_velocity,gripper}',
    'Two arms of seven axes, a neck of three, an omnidirectional base; antennas not counted.'),
  ('unitree-g1', 'unitree-g1', 'G1', 'Unitree Robotics', 'humanoid', 23,
    '{joint_position,base_velocity}', 'The basic version; EDU versions have up to 43 axes.'),
  ('unitree-go2', 'unitree-go2', 'Go2', 'Unitree Robotics', 'quadruped', 12,
    '{joint_position,base_velocity}', 'Three axes a leg; joint control needs the EDU version.'),
  ('boston-dynamics-spot', 'boston-dynamics-spot', 'Spot', 'Boston Dynamics', 'quadruped', 12,
    '{base_velocity}', 'Three axes a leg; without the Spot Arm.'),
  ('turtlebot-4', 'turtlebot-4', 'TurtleBot 4', 'Clearpath Robotics', 'mobile_base', 2,
    '{base_velocity}', 'Differential drive on an iRobot Create 3.'),
  ('clearpath-jackal', 'clearpath-jackal', 'Jackal', 'Clearpath Robotics', 'mobile_base', 2,
    '{base_velocity}', 'Four wheels, steered by skidding.'),
  ('diffdrive-demo', 'diffdrive-demo', 'Demo robot', 'Wheelhouse', 'mobile_base', 2,
    '{base_velocity}', 'Simulated: two wheels on a flat floor. The demo and the SDK bring it.');
`
