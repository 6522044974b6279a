! SPDX-License-Identifier: BSD-3-Clause
!
! What may be added to a message's type, from 1 to 32767, for
! what is in the message.
      integer msgdbl, msgint, msgchr
      parameter (msgdbl=65536, msgint=131072, msgchr=262144)
