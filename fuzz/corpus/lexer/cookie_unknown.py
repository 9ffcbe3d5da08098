# coding: klingon
