"""A base with two driven wheels for ROS 1, whose wheels turn until the next command: it obeys /cmd_vel without a timeout.

Publishes /odom (50 Hz), /scan (10 Hz), /battery_state (2 Hz), /camera/image_raw (10 Hz) and, for every new command, a line of its log.
"""

import math

import rospy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import BatteryState, Image, LaserScan

STEP_S = 0.02
WIDTH, HEIGHT = 320, 240
ACCELERATION_MPS2 = 2.0

rospy.init_node("base", anonymous=True)
odometry = rospy.Publisher("/odom", Odometry, queue_size=1)
battery = rospy.Publisher("/battery_state", BatteryState, queue_size=1)
scan = rospy.Publisher("/scan", LaserScan, queue_size=1)
camera = rospy.Publisher("/camera/image_raw", Image, queue_size=1)
command = Twist()


def obey(message):
    global command
    if message.linear.x != command.linear.x:
        rospy.logwarn("drive %.2f", message.linear.x)
    command = message


rospy.Subscriber("/cmd_vel", Twist, obey, queue_size=1, tcp_nodelay=True)

x = y = heading = linear = 0.0
steps = 0
rate = rospy.Rate(1 / STEP_S)
while not rospy.is_shutdown():
    change = command.linear.x - linear
    linear += max(-ACCELERATION_MPS2 * STEP_S, min(ACCELERATION_MPS2 * STEP_S, change))
    angular = command.angular.z
    heading += angular * STEP_S
    x += math.cos(heading) * linear * STEP_S
    y += math.sin(heading) * linear * STEP_S

    message = Odometry()
    message.header.stamp = rospy.Time.now()
    message.header.frame_id = "odom"
    message.child_frame_id = "base_link"
    message.pose.pose.position.x, message.pose.pose.position.y = x, y
    message.pose.pose.orientation.z, message.pose.pose.orientation.w = math.sin(heading / 2), math.cos(heading / 2)
    message.twist.twist.linear.x, message.twist.twist.angular.z = linear, angular
    odometry.publish(message)
    if steps % 5 == 0:
        ranges = [2.0] * 360
        ranges[0], ranges[1] = float("nan"), float("inf")
        scan.publish(
            LaserScan(angle_min=-math.pi, angle_increment=math.pi / 180, range_min=0.1, range_max=10.0, ranges=ranges)
        )
    if steps % 5 == 0:
        picture = Image(width=WIDTH, height=HEIGHT, encoding="bgr8", step=3 * WIDTH)
        picture.header.stamp = rospy.Time.now()
        # A bar that moves shows that the picture is live.
        row = bytearray(b"\x40\x80\x20" * WIDTH)
        bar = steps % WIDTH
        row[3 * bar : 3 * bar + 3] = b"\xff\xff\xff"
        picture.data = bytes(row) * HEIGHT
        camera.publish(picture)
    if steps % 25 == 0:
        battery.publish(BatteryState(percentage=0.72, voltage=float("nan")))
    steps += 1
    try:
        rate.sleep()
    except rospy.ROSInterruptException:
        break
