/**
 * Constants of the kernel's interface to user space. Comments name the Linux headers; those of asm-generic are the same
 * on x86, arm and arm64.
 */

/** bits/socket.h */
export const AF_NETLINK = 16;
export const AF_CAN = 29;
export const SOCK_RAW = 3;
export const SOCK_NONBLOCK = 0x800;
export const SOCK_CLOEXEC = 0x8_0000;
export const MSG_TRUNC = 0x20;
export const MSG_DONTWAIT = 0x40;
/** Flag of a received frame: this same socket sent it (net/can/raw.c). */
export const MSG_CONFIRM = 0x800;

/** asm-generic/socket.h */
export const SOL_SOCKET = 1;
export const SO_RCVBUF = 8;
export const SO_RCVBUFFORCE = 33;
/** Types of control messages, equal to the option numbers. */
export const SO_TIMESTAMPNS_OLD = 35;
export const SO_RXQ_OVFL = 40;
export const SO_MEMINFO = 55;
/** Linux 5.1: seconds in 64 bits on every architecture. */
export const SO_TIMESTAMPNS_NEW = 64;
/** linux/sock_diag.h: index of the drop counter among the 32-bit words of SO_MEMINFO, and their number. */
export const SK_MEMINFO_DROPS = 8;
export const SK_MEMINFO_VARS = 9;

/** linux/can.h, linux/can/raw.h */
export const CAN_RAW = 1;
export const SOL_CAN_RAW = 101;
export const CAN_RAW_FILTER = 1;
export const CAN_RAW_ERR_FILTER = 2;
export const CAN_RAW_RECV_OWN_MSGS = 4;
export const CAN_RAW_FD_FRAMES = 5;
/** Maximum number of filters per socket. */
export const CAN_RAW_FILTER_MAX = 512;
/** All classes of error frames. */
export const CAN_ERR_MASK = 0x1fff_ffff;
/** Sizes in bytes of a `struct can_frame` and a `struct canfd_frame`. */
export const CAN_MTU = 16;
export const CANFD_MTU = 72;
export const CANFD_BRS = 1;
export const CANFD_ESI = 2;
export const CANFD_FDF = 4;

/** linux/sockios.h, linux/if.h, linux/if_arp.h */
export const SIOCGIFFLAGS = 0x8913;
export const SIOCGIFMTU = 0x8921;
export const SIOCGIFHWADDR = 0x8927;
export const SIOCGIFINDEX = 0x8933;
/** Size in bytes of an interface name with its terminating zero. */
export const IFNAMSIZ = 16;
export const IFF_UP = 1;
export const ARPHRD_CAN = 280;

/** linux/netlink.h, linux/rtnetlink.h */
export const NETLINK_ROUTE = 0;
export const RTMGRP_LINK = 1;
export const RTM_NEWLINK = 16;
export const RTM_GETLINK = 18;
export const NLM_F_REQUEST = 1;
/** Mask of the attribute type, without the flags for nesting and byte order. */
export const NLA_TYPE_MASK = 0x3fff;

/** linux/if_link.h, linux/can/netlink.h */
export const IFLA_LINKINFO = 18;
export const IFLA_INFO_KIND = 1;
export const IFLA_INFO_DATA = 2;
export const IFLA_CAN_CTRLMODE = 5;
export const CAN_CTRLMODE_ONE_SHOT = 8;
